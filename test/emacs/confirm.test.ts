import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { BesideEmacs } from "../support/beside-emacs.js";
import type { Emacs } from "../support/emacs.js";
import { type Answerer, McpDebugger } from "../support/mcp-debugger.js";
import { blocks } from "../support/mcp-results.js";
import { followsAgents, modeLineShowing, noQuestion, question, useSwankMcp } from "../support/swank-mcp-el.js";

const FRAGILE = '(defun fragile (x) (declare (optimize (debug 3))) (let ((y (* 2 x))) (error "bad ~a" y) y))';
const LONG = "(list\n  y\n  :second-line)";

/** Prepares an Emacs that listens, with a frame and a person. */
async function attended(emacs: Emacs): Promise<void> {
  await useSwankMcp(emacs);
  await followsAgents(emacs);
  await emacs.openFrame();
}

/** Presses C-g until an answer has come. While Emacs evaluates, as it does for this test, C-g ends only that and leaves the prompt. */
async function quitUntil(emacs: Emacs, answer: Promise<unknown>): Promise<void> {
  do emacs.type("\x07");
  while ((await Promise.race([answer, pause(1000, "none")])) === "none");
}

/** Removes numbers of threads and connections. */
function withoutIds(text: string): string {
  return text.replace(/\b\d+\/(\d+)\b/g, "N/$1").replace(/connection \d+/g, "connection N");
}

describe("confirmation in Emacs", function () {
  this.timeout(300_000);
  let user: BesideEmacs;

  beforeEach(async () => {
    user = await BesideEmacs.connected();
  });
  afterEach(() => user.end());

  /** Stops Emacs's REPL. => the thread as the agent names it */
  async function stopInRepl(emacs: Emacs): Promise<string> {
    await emacs.evaluateInRepl(FRAGILE);
    await emacs.typeInRepl("(fragile 21)");
    const { thread } = await emacs.debuggerShowing("bad 42");
    return `${thread}/1`;
  }

  async function agentThatAsks(answer: Answerer): Promise<McpDebugger> {
    return McpDebugger.start({
      args: ["--attach", String(user.port)],
      answer,
    });
  }

  it("asks with the code for a client that cannot ask, and y, n, C-g and a whole stop count", async () => {
    const { emacs } = user;
    await attended(emacs);
    const agent = await user.agent();
    const thread = await stopInRepl(emacs);
    const evaluate = async (code: string) =>
      blocks(await agent.call("debugger_eval_in_frame", { frame: 0, code, thread })).join("\n");
    const yes = evaluate("(setf y 5)");
    expect(withoutIds(await question(emacs))).to.equal(
      "Agent test wants to evaluate code in frame #0, in a thread that is stopped in Emacs (Swank connection N): (setf y 5)  Allow? (y, n, s: show, !: for this stop) ",
    );
    await modeLineShowing(emacs, "agent asking");
    emacs.type("x", "\r", "y");
    expect(await yes).to.match(/^=> 5$/m);
    for (const key of ["n", "C-g"]) {
      const no = evaluate("(setf y 6)");
      await question(emacs);
      if (key === "n") emacs.type(key);
      else await quitUntil(emacs, no);
      expect(withoutIds(await no)).to.include(
        "Not allowed (:eval): evaluate code in frame #0, in a thread that is stopped in Emacs (Swank connection N); the user said no in Emacs.\nNothing was done.",
      );
    }
    const long = evaluate(LONG);
    expect(await question(emacs)).not.to.include("list");
    const { text } = await emacs.bufferShowing("*swank-mcp question*", LONG);
    expect(withoutIds(text)).to.equal(
      `Agent test wants to evaluate code in frame #0, in a thread that is stopped in Emacs (Swank connection N)\n\nCode:\n${LONG}\n\nFrame 0: (FRAGILE 21)\nThread N/1\n`,
    );
    emacs.type("!");
    expect(await long).to.include("(5 :SECOND-LINE)");
    expect(await evaluate("y")).to.match(/^=> 5$/m);
    await emacs.eval("(swank-mcp-transcript)");
    const { text: transcript } = await emacs.bufferShowing("*swank-mcp*", "=> (5 :SECOND-LINE)");
    expect(transcript).to.match(/\(eval-in-frame\) {2}\d+\.\d\d s\n\(setf y 5\)\n=> 5\n/);
    expect(await emacs.eval('(get-buffer "*swank-mcp question*")')).to.equal("nil");
    await noQuestion(emacs);
  });

  it("asks before breakpoints for any thread and before the image's end, and leaves the agent's own threads to its client", async () => {
    const { emacs } = user;
    await attended(emacs);
    const asked: string[] = [];
    const agent = await agentThatAsks(async (message) => {
      asked.push(message);
      return { action: "accept", content: { answer: "Yes" } };
    });
    try {
      await agent.call("evaluate-lisp", { code: "(defun fact (n) n)" });
      const set = agent.call("breakpoint_set", { function: "fact", thread: "any" });
      expect(await question(emacs)).to.include("set a breakpoint: Function fact, Thread any  Allow?");
      emacs.type("s");
      await emacs.bufferShowing("*swank-mcp question*", "Names are read in package COMMON-LISP-USER");
      emacs.type("y");
      expect((await set).structuredContent).to.include({ function: "COMMON-LISP-USER::FACT" });
      expect(asked).to.deep.equal([]);
      await agent.call("breakpoint_set", { function: "fact" });
      expect(asked).to.have.lengthOf(1);
      const exit = agent.call("evaluate-lisp", { code: "(sb-ext:exit :abort t)" });
      expect(await question(emacs)).to.include("end this Lisp, for all its clients: ");
      emacs.type("n");
      expect(blocks(await exit)[0]).to.include("is refused: it would end the image");
      await agent.call("debugger_invoke_restart", { restart: "ABORT" });
      const end = agent.call("evaluate-lisp", { code: "(sb-ext:exit :abort t)" });
      await question(emacs);
      emacs.type("y");
      expect(blocks(await end)[0]).to.match(/lost/i);
      await emacs.until("(not (slime-connected-p))", "the end of the connection");
    } finally {
      await agent.close();
    }
  });

  it("takes the first answer of two Emacsen, and withdraws the other's question", async () => {
    const { emacs } = user;
    await attended(emacs);
    const other = await user.anotherEmacs();
    await other.connect(user.port);
    await attended(other);
    const agent = await user.agent();
    const thread = await stopInRepl(emacs);
    const evaluated = agent.call("debugger_eval_in_frame", { frame: 0, code: "(setf y 5)", thread });
    await question(emacs);
    await question(other);
    other.type("y");
    expect(blocks(await evaluated)[0]).to.equal("=> 5");
    await noQuestion(emacs);
    expect(await emacs.messageMatching("answered in another Emacs")).to.include("answered in another Emacs: yes");
    expect(await emacs.eval("(recursion-depth)")).to.equal("0");
  });

  it("goes to the client when every Emacs that asks is killed, and is withdrawn when the agent is", async () => {
    const { emacs } = user;
    await attended(emacs);
    const other = await user.anotherEmacs();
    await other.connect(user.port);
    await attended(other);
    const asked: string[] = [];
    const agent = await agentThatAsks(async (message) => {
      asked.push(message);
      return { action: "accept", content: { answer: "Yes" } };
    });
    const mute = await user.agent();
    try {
      await agent.call("evaluate-lisp", { code: "(defun fact (n) n)" });
      const set = agent.call("breakpoint_set", { function: "fact", thread: "any" });
      const refused = mute.call("breakpoint_set", { function: "fact", thread: "any" });
      await question(emacs);
      await question(other);
      await other.kill();
      await emacs.kill();
      expect((await set).structuredContent).to.include({ function: "COMMON-LISP-USER::FACT" });
      expect(asked).to.have.lengthOf(1);
      expect(blocks(await refused)[0]).to.include("this client cannot ask");
    } finally {
      await agent.close();
    }
  });

  it("is withdrawn when the agent is killed", async () => {
    const { emacs } = user;
    await attended(emacs);
    const agent = await user.agent();
    await agent.evaluate("(defun fact (n) n)");
    const set = agent.call("breakpoint_set", { function: "fact", thread: "any" }).catch(() => undefined);
    await question(emacs);
    agent.process.kill("SIGKILL");
    await set;
    await noQuestion(emacs);
    await emacs.messageMatching("the agent does not ask any more");
    expect(await emacs.evaluateInRepl("(list 1 2)")).to.equal("(1 2)");
  });

  it("is a no after 60 s without an answer, and then leaves the minibuffer", async () => {
    const { emacs } = user;
    await attended(emacs);
    const agent = await user.agent();
    await agent.evaluate("(defun fact (n) n)");
    const set = agent.call("breakpoint_set", { function: "fact", thread: "any" });
    await question(emacs);
    expect(blocks(await set)[0]).to.include("no answer came within 60 s in Emacs.");
    await noQuestion(emacs);
    await emacs.messageMatching("no answer within 60 s: the agent reads a no");
    expect(await emacs.eval("(recursion-depth)")).to.equal("0");
  });

  it("leaves the question to the client while Emacs has no frame, and waits until the person does nothing else", async () => {
    const { emacs } = user;
    await useSwankMcp(emacs);
    await followsAgents(emacs);
    const agent = await user.agent();
    await agent.evaluate("(defun fact (n) n)");
    const unseen = await agent.call("breakpoint_set", { function: "fact", thread: "any" });
    expect(blocks(unseen)[0]).to.include("this client cannot ask");
    await emacs.openFrame();
    emacs.type("\x1bx");
    await emacs.until("(active-minibuffer-window)", "the prompt of M-x");
    const set = agent.call("breakpoint_set", { function: "fact", thread: "any" });
    await modeLineShowing(emacs, "agent asking");
    emacs.type("y");
    await emacs.until(
      '(with-current-buffer (window-buffer (minibuffer-window)) (string-suffix-p "y" (buffer-string)))',
      "the key in the prompt of M-x",
    );
    expect(await emacs.eval("swank-mcp--posed")).to.equal("nil");
    // C-g could quit the test's own request to Emacs.
    emacs.type("\x7fignore\r");
    await question(emacs);
    emacs.type("y");
    expect((await set).structuredContent).to.include({ function: "COMMON-LISP-USER::FACT" });
  });
});
