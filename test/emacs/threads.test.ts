import { expect } from "chai";
import { listThreads } from "../support/listed-threads.js";
import { blocks } from "../support/mcp-results.js";
import type { McpStdio } from "../support/mcp-stdio.js";
import { REPL_THREAD } from "../support/usual-server.js";
import { eachUser, following } from "./user.js";

const COUNTING =
  '(progn (defvar *rounds* 0) (sb-thread:make-thread (lambda () (loop (incf *rounds*) (sleep 0.001))) :name "counting") nil)';

/** Waits until the counting thread goes on. */
const GOES_ON = "(let ((before cl-user::*rounds*)) (loop until (> cl-user::*rounds* before) do (sleep 0.01)) :on)";

/** The named thread. */
async function find(agent: McpStdio, name: string) {
  const { threads } = await listThreads(agent, { name, stacks: 5 });
  const found = threads.find((thread) => thread.name === name);
  if (found === undefined) throw new Error(`No thread ${name}`);
  return found;
}

describe("threads beside Emacs", function () {
  this.timeout(300_000);
  const user = eachUser();
  it("of Emacs are named as such, and one that is stopped there is Emacs's to resume", async () => {
    const { emacs } = user();
    const agent = await user().agent("--approval", "off");
    await agent.evaluate("1");
    await emacs.typeInRepl("(progn (sleep 0.01) (loop until (boundp '*end*) do (sleep 0.01)) :went-on)");
    await agent.evaluate(
      `(loop until (find "${REPL_THREAD}" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal))`,
    );
    const repl = await find(agent, REPL_THREAD);
    expect(repl.owner).to.equal("Emacs (Swank connection 1)");
    const [text] = blocks(await agent.call("interrupt-thread", { thread: repl.id, mode: "stop" }));
    expect(text).to.match(/^; Thread \d+\/1 stopped in Emacs \(Swank connection 1\)$/);
    const debuggerBuffer = await emacs.debuggerShowing("The thread was interrupted.");
    await agent.evaluate("(defvar *end* t)");
    await emacs.pressInDebugger(debuggerBuffer.thread, "c");
    await emacs.debuggerClosed(debuggerBuffer.thread);
    await emacs.prompt();
    expect(await emacs.replText()).to.include(":WENT-ON");
  });

  it("of the program stop at the agent, never in Emacs, which works on", async () => {
    const { emacs } = user();
    await emacs.evaluateInRepl(COUNTING);
    const agent = await user().agent("--approval", "off");
    const { id } = await find(agent, "counting");
    const [report] = blocks(await agent.call("interrupt-thread", { thread: id, mode: "stop" }));
    expect(report).to.match(/^\[INTERRUPT\] INTERRUPTED\n/);
    expect(await emacs.debuggerBuffers()).to.deep.equal([]);
    expect(await emacs.evaluateInRepl("(+ 1 2)")).to.equal("3");
    expect(blocks(await agent.call("debugger_continue", { thread: String(id) }))[0]).to.equal(
      `; Thread ${id}/1 resumed`,
    );
    expect(await agent.evaluate(GOES_ON)).to.deep.equal(["=> :ON"]);
    expect(await emacs.debuggerBuffers()).to.deep.equal([]);
  });

  it("of the agent show their frames when the user presses d on them, and go on from there", async () => {
    const { emacs } = user();
    await following(emacs);
    const agent = await user().agent();
    await agent.evaluate("(progn (defun spin (end) (loop until (boundp end) do (sleep 0.01)) :went-on) nil)");
    const spinning = [
      { name: "test: (spin", answer: agent.evaluate("(spin 'first-end)"), end: "first-end" },
      {
        name: "spinner",
        answer: agent.evaluate(
          "(sb-thread:join-thread (sb-thread:make-thread #'spin :name \"spinner\" :arguments (list 'other-end)))",
        ),
        end: "other-end",
      },
    ];
    for (const { name, answer, end } of spinning) {
      await emacs.pressOnThread(name, "d");
      const { thread, text } = await emacs.debuggerShowing("Interrupt from Emacs");
      expect(text, name).to.match(/^ +\d+: \(SPIN /m);
      await emacs.evaluateInRepl(`(defvar ${end} t)`);
      await emacs.pressInDebugger(thread, "c");
      await emacs.debuggerClosed(thread);
      expect(await answer).to.deep.equal(["=> :WENT-ON"]);
    }
  });
});

describe("debugger tools beside Emacs's debugger", function () {
  this.timeout(200_000);
  const user = eachUser();
  it("interrupt only the agent's thread, and Emacs only its own", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    await agent.evaluate("(defvar *go-on* t) (defvar *looping* nil)");
    const agents = agent.evaluate("(loop while *go-on* do (sleep 0.01) finally (return :ended))");
    await emacs.typeInRepl("(loop (setf *looping* t) (sleep 0.01))");
    await agent.evaluate("(loop until *looping* do (sleep 0.01))");
    await emacs.pressInRepl("C-c C-c");
    const { thread } = await emacs.debuggerShowing("Interrupt from Emacs");
    expect((await agent.evaluate("(loop (sleep 0.01))", { timeout: 0.2 }))[0]).to.include("[TIMEOUT]");
    expect((await emacs.debuggerBuffers()).map((each) => each.thread)).to.deep.equal([thread]);
    await emacs.pressInDebugger(thread, "q");
    await emacs.debuggerClosed(thread);
    expect(await emacs.evaluateInRepl("(setf *go-on* nil)")).to.equal("NIL");
    expect(await agents).to.deep.equal(["=> :ENDED"]);
  });
});

describe("evaluate-lisp beside Emacs", function () {
  this.timeout(200_000);
  const user = eachUser();
  let agent: McpStdio;

  beforeEach(async () => {
    agent = await user().agent();
  });

  async function described(name: string): Promise<string> {
    return blocks(await agent.call("describe-symbol", { name })).join("\n");
  }

  it("shares definitions with Emacs, and the latest one wins", async () => {
    const { emacs } = user();
    await agent.evaluate('(defun greet (name) "Says hello." (format nil "Hello ~a" name))');
    expect(await emacs.evaluateInRepl('(greet "you")')).to.equal('"Hello you"');
    expect(await emacs.evaluateInRepl('(defun greet (name &key loudly) "Greets." (list name loudly))')).to.match(
      /GREET$/,
    );
    expect(await agent.evaluate('(greet "me" :loudly t)')).to.deep.equal(['=> ("me" T)']);
    expect(await described("greet"))
      .to.include("(NAME &KEY LOUDLY)")
      .and.include("Greets.")
      .and.not.include("Says hello");
    expect(blocks(await agent.call("list-definitions"))[0]).to.not.include("Says hello");
    expect(blocks(await agent.call("reset-session")).join("\n")).to.match(/GREET/);
    expect(await emacs.evaluateInRepl('(greet "you")')).to.equal('("you" NIL)');
  });

  it("sees definitions from Emacs's editor, even during a stop", async () => {
    const { emacs } = user();
    await agent.evaluate("(defun halve (number) (/ number zero))");
    expect((await agent.evaluate("(halve 10)"))[0]).to.include("[ERROR] UNBOUND-VARIABLE");
    await emacs.compile('(defun halve (number) "By two." (/ number 2))');
    expect(await described("halve")).to.include("By two.");
    const continued = await agent.call("debugger_invoke_restart", { restart: "RETRY" });
    expect(blocks(continued)[0]).to.equal("=> 5");
  });
});
