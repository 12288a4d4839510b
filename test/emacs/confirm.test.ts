import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { connect } from "swank-client";
import type { Emacs } from "../support/emacs.js";
import { type Answerer, McpDebugger } from "../support/mcp-debugger.js";
import { blocks } from "../support/mcp-results.js";
import type { McpStdio } from "../support/mcp-stdio.js";
import { answer, modeLineShowing, noQuestion, question } from "../support/swank-mcp-el.js";
import { eachUser, following, oneUser } from "./user.js";

const FRAGILE = '(defun fragile (x) (declare (optimize (debug 3))) (let ((y (* 2 x))) (error "bad ~a" y) y))';
const LONG = "(list\n  y\n  :second-line)";

/** Prepares an Emacs that listens, with a frame and a person. */
async function attended(emacs: Emacs): Promise<void> {
  await following(emacs);
  await emacs.openFrame();
}

/** Removes numbers of threads and connections. */
function withoutIds(text: string): string {
  return text.replace(/\b\d+\/(\d+)\b/g, "N/$1").replace(/connection \d+/g, "connection N");
}

describe("confirmation in Emacs", function () {
  this.timeout(300_000);
  const user = eachUser();
  /** A user who answers nothing, while the other tests run. */
  const patient = oneUser();
  let unanswered: ReturnType<McpStdio["call"]>;

  before(async () => {
    const { emacs } = patient();
    await attended(emacs);
    const agent = await patient().agent();
    await agent.evaluate("(defun fact (n) n)");
    unanswered = agent.call("breakpoint_set", { function: "fact", thread: "any" });
    await question(emacs);
  });

  /** Stops Emacs's REPL. => the thread as the agent names it */
  async function stopInRepl(emacs: Emacs): Promise<string> {
    await emacs.evaluateInRepl(FRAGILE);
    await emacs.typeInRepl("(fragile 21)");
    const { thread } = await emacs.debuggerShowing("bad 42");
    return `${thread}/1`;
  }

  async function agentThatAsks(answerer: Answerer): Promise<McpDebugger> {
    return McpDebugger.start({ args: ["--attach", String(user().port)], answer: answerer });
  }

  it("shows the code in a window for a client that cannot ask, and the chords for yes, no and a whole stop count", async () => {
    const { emacs } = user();
    await attended(emacs);
    const agent = await user().agent();
    const thread = await stopInRepl(emacs);
    const evaluate = async (code: string) =>
      blocks(await agent.call("debugger_eval_in_frame", { frame: 0, code, thread })).join("\n");
    const asked =
      "Agent test wants to evaluate code in frame #0, in a thread that is stopped in Emacs (Swank connection N)\nC-c ? y allows it, C-c ? n refuses it, C-c ? ! allows it until the stop ends.\n\nCode:";
    const yes = evaluate("(setf y 5)");
    expect(withoutIds(await question(emacs))).to.equal(`${asked} (setf y 5)\n\nFrame 0: (FRAGILE 21)\nThread N/1\n`);
    await modeLineShowing(emacs, "agent asking: C-c ? y, n or s");
    answer(emacs, "y");
    expect(await yes).to.match(/^=> 5$/m);
    const no = evaluate("(setf y 6)");
    await question(emacs, "(setf y 6)");
    answer(emacs, "n");
    expect(withoutIds(await no)).to.include(
      "Not allowed: evaluate code in frame #0, in a thread that is stopped in Emacs (Swank connection N); the user said no in Emacs.\nNothing was done.",
    );
    const long = evaluate(LONG);
    expect(withoutIds(await question(emacs, LONG))).to.equal(
      `${asked}\n${LONG}\n\nFrame 0: (FRAGILE 21)\nThread N/1\n`,
    );
    answer(emacs, "!");
    expect(await long).to.include("(5 :SECOND-LINE)");
    expect(await evaluate("y")).to.match(/^=> 5$/m);
    await emacs.eval("(swank-mcp-transcript)");
    const { text: transcript } = await emacs.bufferShowing("*swank-mcp*", "=> (5 :SECOND-LINE)");
    expect(transcript).to.match(/\(eval-in-frame\) {2}\d+\.\d\d s\n\(setf y 5\)\n=> 5\n/);
    await noQuestion(emacs);
    expect(await emacs.eval('(get-buffer "*swank-mcp question*")')).to.equal("nil");
  });

  it("asks before breakpoints for any thread and before the image's end, and leaves the agent's own threads to its client", async () => {
    const { emacs } = user();
    await attended(emacs);
    const asked: string[] = [];
    const agent = await agentThatAsks(async (message) => {
      asked.push(message);
      return { action: "accept", content: { answer: "Yes" } };
    });
    try {
      await agent.call("evaluate-lisp", { code: "(defun fact (n) n)" });
      const set = agent.call("breakpoint_set", { function: "fact", thread: "any" });
      const text = await question(emacs, "set a breakpoint");
      expect(text).to.include("\n\nFunction: fact\n\nThread: any\n\nNames are read in package COMMON-LISP-USER\n");
      answer(emacs, "y");
      expect((await set).structuredContent).to.include({ function: "COMMON-LISP-USER::FACT" });
      expect(asked).to.deep.equal([]);
      await agent.call("breakpoint_set", { function: "fact" });
      expect(asked).to.have.lengthOf(1);
      const exit = agent.call("evaluate-lisp", { code: "(sb-ext:exit :abort t)" });
      expect(await question(emacs, "end this Lisp, for all its clients")).to.include("(it asks for a yes in full)");
      answer(emacs, "n");
      expect(blocks(await exit)[0]).to.include("is refused: it would end the image");
      await agent.call("debugger_invoke_restart", { restart: "ABORT" });
      const end = agent.call("evaluate-lisp", { code: "(sb-ext:exit :abort t)" });
      await question(emacs, "end this Lisp");
      for (const typed of ["y\r", "\r"]) {
        answer(emacs, "y");
        await emacs.until("(active-minibuffer-window)", "the prompt for yes");
        emacs.type(typed);
        await emacs.until("(not (active-minibuffer-window))", "the end of the prompt");
      }
      expect(await emacs.eval("(length (swank-mcp--all-questions))")).to.equal("1");
      answer(emacs, "y");
      await emacs.until("(active-minibuffer-window)", "the prompt for yes");
      emacs.type("yes\r");
      expect(blocks(await end)[0]).to.match(/lost/i);
      await emacs.until("(not (slime-connected-p))", "the end of the connection");
    } finally {
      await agent.close();
    }
  });

  it("takes the first answer of two Emacsen, and withdraws the other's question", async () => {
    const { emacs } = user();
    await attended(emacs);
    const other = await user().anotherEmacs();
    await other.connect(user().port);
    await attended(other);
    const agent = await user().agent();
    const thread = await stopInRepl(emacs);
    const evaluated = agent.call("debugger_eval_in_frame", { frame: 0, code: "(setf y 5)", thread });
    await question(emacs);
    await question(other);
    answer(other, "y");
    expect(blocks(await evaluated)[0]).to.equal("=> 5");
    await noQuestion(emacs);
    expect(await emacs.messageMatching("answered in another Emacs")).to.include("answered in another Emacs: yes");
  });

  it("shows what a page has answered first, which asks for the same image", async () => {
    const { emacs, port } = user();
    await attended(emacs);
    const agent = await user().agent();
    const thread = await stopInRepl(emacs);
    await using page = await connect({ port, runtime: false, foreignErrors: "theirs" });
    const asked: number[] = [];
    await page.activity.follow({ questions: true }, (event) => {
      if (event.type === "ask") asked.push(event.question.number);
    });
    const evaluated = agent.call("debugger_eval_in_frame", { frame: 0, code: "(setf y 5)", thread });
    await question(emacs);
    while (asked.length === 0) await pause(20);
    expect(await page.activity.answer(asked[0] ?? 0, "yes")).to.equal(true);
    expect(blocks(await evaluated)[0]).to.equal("=> 5");
    await noQuestion(emacs);
    expect(await emacs.messageMatching("answered on the page")).to.include("answered on the page: yes");
  });

  it("goes to the client when every Emacs that asks is killed, and is withdrawn when the agent is", async () => {
    const { emacs } = user();
    await attended(emacs);
    const other = await user().anotherEmacs();
    await other.connect(user().port);
    await attended(other);
    const asked: string[] = [];
    const agent = await agentThatAsks(async (message) => {
      asked.push(message);
      return { action: "accept", content: { answer: "Yes" } };
    });
    const mute = await user().agent();
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
    const { emacs } = user();
    await attended(emacs);
    const agent = await user().agent();
    await agent.evaluate("(defun fact (n) n)");
    const set = agent.call("breakpoint_set", { function: "fact", thread: "any" }).catch(() => undefined);
    await question(emacs);
    agent.process.kill("SIGKILL");
    await set;
    await noQuestion(emacs);
    await emacs.messageMatching("the agent does not ask any more");
    expect(await emacs.evaluateInRepl("(list 1 2)")).to.equal("(1 2)");
  });

  it("leaves the question to the client while Emacs has no frame, and shows it after another prompt", async () => {
    const { emacs } = user();
    await following(emacs);
    const agent = await user().agent();
    await agent.evaluate("(defun fact (n) n)");
    const unseen = await agent.call("breakpoint_set", { function: "fact", thread: "any" });
    expect(blocks(unseen)[0]).to.include("this client cannot ask");
    await emacs.openFrame();
    emacs.type("\x1bx");
    await emacs.until("(active-minibuffer-window)", "the prompt of M-x");
    const set = agent.call("breakpoint_set", { function: "fact", thread: "any" });
    await modeLineShowing(emacs, "agent asking: C-c ? y, n or s");
    emacs.type("y");
    await emacs.until(
      '(with-current-buffer (window-buffer (minibuffer-window)) (string-suffix-p "y" (buffer-string)))',
      "the key in the prompt of M-x",
    );
    expect(await emacs.eval("(swank-mcp--shown-question)")).to.equal("nil");
    emacs.type("\x7fignore\r");
    await question(emacs, "set a breakpoint");
    answer(emacs, "y");
    expect((await set).structuredContent).to.include({ function: "COMMON-LISP-USER::FACT" });
  });

  it("ends with its stop, so that the next agent's question is shown", async () => {
    const { emacs } = user();
    await attended(emacs);
    const agent = await user().agent();
    const next = await user().agent();
    const thread = await stopInRepl(emacs);
    const stale = agent.call("debugger_eval_in_frame", { frame: 0, code: "(setf y 5)", thread });
    await question(emacs, "(setf y 5)");
    await emacs.eval("(slime-eval (quote (cl:progn (cl:defun cl-user::fact (n) n) cl:t)))");
    const set = next.call("breakpoint_set", { function: "fact", thread: "any" });
    await emacs.until("(cdr (swank-mcp--all-questions))", "both questions");
    await emacs.pressInDebugger(Number.parseInt(thread, 10), "q");
    expect(blocks(await stale)[0]).to.match(/^The stop \S+ ended before the user answered\./);
    await emacs.messageMatching("the stop has ended");
    await question(emacs, "set a breakpoint");
    answer(emacs, "y");
    expect((await set).structuredContent).to.include({ function: "COMMON-LISP-USER::FACT" });
    await noQuestion(emacs);
    await emacs.evaluateInRepl("(untrace)");
  });

  it("is not asked about a function that no breakpoint can be set on", async () => {
    const { emacs } = user();
    await attended(emacs);
    const agent = await user().agent();
    for (const name of ["no-such-function", "when", "car", "(method print-object (t t))", "1 2"]) {
      const refused = await agent.call("breakpoint_set", { function: name, thread: "any" });
      expect(refused.structuredContent, name).to.have.nested.property("error.data.type", "BREAKPOINT_REFUSED");
    }
    expect(await emacs.eval("(swank-mcp-test-received-p :ask)")).to.equal("nil");
  });

  it("is a no after 55 s without an answer, and then leaves the windows", async () => {
    const { emacs } = patient();
    expect(blocks(await unanswered)[0]).to.include("no answer came within 55 s.");
    await noQuestion(emacs);
    await emacs.messageMatching("no answer within 55 s: the agent reads a no");
  });
});
