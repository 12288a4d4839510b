import { expect } from "chai";
import type { Emacs } from "../support/emacs.js";
import { blocks } from "../support/mcp-results.js";
import type { McpStdio } from "../support/mcp-stdio.js";
import { modeLineShowing } from "../support/swank-mcp-el.js";
import { eachUser, following } from "./user.js";

const FRAGILE = '(defun fragile (x) (declare (optimize (debug 3))) (let ((y (* 2 x))) (error "bad ~a" y) y))';

describe("swank-mcp.el at a stop", function () {
  this.timeout(300_000);
  const user = eachUser(following);
  async function stopInRepl(emacs: Emacs): Promise<number> {
    await emacs.evaluateInRepl(FRAGILE);
    await emacs.typeInRepl("(fragile 21)");
    return (await emacs.debuggerShowing("bad 42")).thread;
  }

  /** Evaluates a form in the debugger's buffer of a thread. */
  async function inDebugger(emacs: Emacs, thread: number, form: string): Promise<string> {
    return emacs.eval(`(with-current-buffer (sldb-find-buffer ${thread}) ${form})`);
  }

  it("lets the user ask agents about a frame, a region and a symbol, which the next answer and lisp-status say", async () => {
    const { emacs } = user();
    const ask = (text: string) =>
      `(cl-letf (((symbol-function 'read-string) (lambda (&rest _) "${text}"))) (call-interactively 'swank-mcp-ask))`;
    const unheard = await emacs.eval(`(condition-case problem ${ask("x")} (error (error-message-string problem)))`);
    expect(unheard).to.equal('"No agent is connected"');
    const agent = await user().agent();
    await agent.evaluate("(list 1)");
    await emacs.until("(eq 'idle (swank-mcp--state (car swank-mcp--lisps)))", "the agent");
    const thread = await stopInRepl(emacs);
    await inDebugger(
      emacs,
      thread,
      `(progn (goto-char (point-min)) (search-forward "(FRAGILE 21)") ${ask("why 42?")})`,
    );
    expect(await emacs.messageMatching("reads it")).to.equal("test reads it with the next answer.");
    const frame = JSON.parse(await inDebugger(emacs, thread, '(format "%d" (swank-mcp--frame-at-point))'));
    const sentence = `The user asks: why 42?, at ${thread}/1, frame ${frame}`;
    const answer = (await agent.evaluate("(list 2)")).join("\n");
    expect(answer).to.include(`${sentence}. To look at it, call debugger_frames with thread "${thread}/1".`);
    expect((await agent.evaluate("(list 3)")).join("\n")).not.to.include("The user asks");
    await emacs.eval(`(with-temp-buffer (rename-buffer "code.lisp") (lisp-mode) (insert "1\\n(cons a b)\\n")
      (let ((transient-mark-mode t)) (goto-char 3) (push-mark 13 t t) ${ask("simplify")})
      (deactivate-mark) (goto-char 4) ${ask(" ")})`);
    const { structuredContent } = await agent.call("lisp-status");
    // Lisp takes requests that come at the same time in any order.
    expect(structuredContent?.["user_asks"]).to.have.members([
      sentence,
      "The user asks: simplify, at code.lisp:2:\n(cons a b)",
      "The user asks: please look, at cons, code.lisp:2",
    ]);
    await emacs.pressInDebugger(thread, "q");
    await emacs.debuggerClosed(thread);
    const later = (await agent.call("lisp-status")).structuredContent?.["user_asks"];
    expect(later).to.have.lengthOf(2);
    expect(later).not.to.include(sentence);
    const other = await user().agent();
    await other.evaluate("(list 1)");
    await emacs.until("(cdr (swank-mcp--agent-names (car swank-mcp--lisps)))", "both agents");
    await emacs.eval('(swank-mcp-ask "look")');
    expect(await emacs.messageMatching("read it")).to.match(
      /^test( 2)? and test( 2)? read it with their next answers\.$/,
    );
  });

  it("shows in the debugger who looks at the stop, and at once what an agent has changed in a frame on display", async () => {
    const { emacs } = user();
    const other = await user().anotherEmacs();
    await other.connect(user().port);
    await following(other);
    const agent = await user().agent("--approval", "off");
    const thread = await stopInRepl(emacs);
    // The frame of a daemon is too small for the lines that SLIME wants to scroll to.
    await inDebugger(
      emacs,
      thread,
      `(progn (goto-char (point-min)) (search-forward "(FRAGILE 21)")
         (cl-letf (((symbol-function 'slime--display-region) 'ignore)) (call-interactively (key-binding (kbd "t")))))`,
    );
    await emacs.debuggerShowing("Y = 42");
    const place = `${thread}/1`;
    await agent.call("debugger_frames", { thread: place });
    const header = "(sldb-find-buffer %d)".replace("%d", String(thread));
    const shows = (text: string) => `(equal "${text}" (buffer-local-value 'header-line-format ${header}))`;
    await emacs.until(shows("Agent test looks at this stop"), "the agent at the stop");
    const frame = Number(
      await inDebugger(
        emacs,
        thread,
        '(progn (goto-char (point-min)) (search-forward "(FRAGILE 21)") (swank-mcp--frame-at-point))',
      ),
    );
    const changed = await agent.call("debugger_eval_in_frame", { frame, code: "(setf y 5)", thread: place });
    expect(blocks(changed)[0]).to.match(/^=> 5$/m);
    const { text } = await emacs.debuggerShowing("Y = 5");
    expect(text).not.to.include("Y = 42");
    expect(text).to.include("X = 21");
    await emacs.until(shows(`Agent test has evaluated code in frame ${frame}`), "the agent's change");
    expect(await other.eval("(sldb-buffers)")).to.equal("nil");
    await emacs.pressInDebugger(thread, "q");
    await emacs.debuggerClosed(thread);
  });
});

/** Answers the question of an agent's server that has not been answered. */
async function answer(agent: McpStdio, result: object): Promise<void> {
  const { id } = await agent.notified("elicitation/create");
  agent.notifications.splice(
    agent.notifications.findIndex((message) => message.id === id),
    1,
  );
  agent.send({ id, result });
}

describe("approvals in the transcript of swank-mcp.el", function () {
  this.timeout(300_000);
  const user = eachUser(following);
  beforeEach(() => user().emacs.eval("(swank-mcp-transcript)"));

  it("show the question, while the mode line says asking, then the answer and how it was given", async () => {
    const { emacs } = user();
    const agent = await user().askingAgent();
    await agent.evaluate("(defun f (x) (restart-case (list (car x) x) (use-seven () 7)))");
    await agent.evaluate("(f 3)");
    const call = agent.startCall("debugger_eval_in_frame", { frame: 0, code: "(setf x (list 4))" });
    await modeLineShowing(emacs, "agent asking");
    const { text } = await emacs.bufferShowing("*swank-mcp*", "asking");
    expect(text).to.match(
      /test \(approval\) {2}asking\n;; evaluate code in frame #0\?\n\(setf x \(list 4\)\)\n;; Frame 0: .*\n;; Thread \d+\/1\n/,
    );
    await answer(agent, { action: "accept", content: { answer: "Yes, for this stop" } });
    expect((await call.result).isError).to.equal(false);
    await emacs.bufferShowing("*swank-mcp*", "Allowed in the agent's client: Yes, for this stop");
    await modeLineShowing(emacs, "agent stopped");
    const other = agent.startCall("debugger_invoke_restart", { restart: "USE-SEVEN" });
    await answer(agent, { action: "decline" });
    expect((await other.result).isError).to.equal(true);
    const { text: whole } = await emacs.bufferShowing("*swank-mcp*", "Not allowed");
    expect(whole).to.match(/\(approval\) {2}refused\n[\s\S]*Not allowed in the agent's client: the user said no/);
  });

  it("show a request that was refused without a question", async () => {
    const agent = await user().agent("--approval", "strict");
    await agent.evaluate("(defun f (x) (list (car x) x))");
    await agent.evaluate("(f 3)");
    await agent.call("debugger_eval_in_frame", { frame: 0, code: "(setf x 5)" });
    const { text } = await user().emacs.bufferShowing("*swank-mcp*", "Not allowed");
    expect(text).to.match(/\(setf x 5\)\n[\s\S]*Not allowed: [\s\S]*--approval strict, and this client cannot ask/);
  });

  it("show the code of each call that --read-only refused, even if nothing else was called", async () => {
    const agent = await user().agent("--read-only");
    await agent.evaluate("(setf *users* nil)", { package: "CL-USER" });
    await agent.call("breakpoint_set", { function: "f", thread: "any" });
    const { text } = await user().emacs.bufferShowing("*swank-mcp*", "breakpoint_set would");
    expect(text).to.match(
      /test \(evaluate-lisp\) {2}refused\n\(setf \*users\* nil\)\nRefused: evaluate-lisp would do more than read, which --read-only forbids\.\n/,
    );
    expect(text).to.match(/test \(breakpoint_set\) {2}refused\n;; \{"function":"f","thread":"any"\}\n/);
    await modeLineShowing(user().emacs, "agent idle");
  });
});
