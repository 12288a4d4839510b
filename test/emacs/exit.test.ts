import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { blocks } from "../support/mcp-results.js";
import type { McpStdio } from "../support/mcp-stdio.js";
import { eachUser, oneUser } from "./user.js";

/** Ways to end an image. */
const ENDS = [
  "(sb-ext:exit)",
  "(exit :abort t)",
  "(sb-ext:quit)",
  "(sb-ext:exit :code 3 :timeout 0)",
  '(sb-ext:save-lisp-and-die "/nowhere/core")',
  "(swank:quit-lisp)",
  "(sb-sys:os-exit 1 :abort t)",
  "(sb-kernel:%exit)",
  "(sb-unix:unix-exit 1)",
  "(sb-thread::%exit-other-threads)",
  "(sb-posix:exit 1)",
  "(sb-posix:_exit 1)",
  "(sb-posix:abort)",
  "(sb-thread:terminate-thread (sb-thread:main-thread))",
  "(funcall 'sb-ext:exit)",
  "(apply #'sb-ext:exit '(:abort t))",
];

async function frame(agent: McpStdio, code: string, thread: string): Promise<string> {
  return blocks(await agent.call("debugger_eval_in_frame", { frame: 0, code, thread })).join("\n");
}

describe("exit in the user's image", function () {
  this.timeout(300_000);
  const user = oneUser();
  let agent: McpStdio;

  before(async () => {
    agent = await user().agent("--approval", "off");
  });

  it("is refused to the agent's code, with a remedy", async () => {
    for (const code of ENDS) {
      const [report = ""] = await agent.evaluate(code);
      expect(report, code).to.match(/^\[ERROR\] EXIT-REFUSED\n/);
      expect(report, code).to.match(
        /\n?[-_%A-Z:]+ is refused: it would end the image for all its clients\.\s+Ask the user to evaluate it\./,
      );
      expect(report, code).not.to.match(/SWANK-CLIENT/);
      await agent.call("debugger_invoke_restart", { restart: "ABORT" });
    }
    const [report = ""] = await agent.evaluate("(defun finish (code) (sb-ext:exit :code code) code) (finish 3)");
    expect(report).to.match(/\[Backtrace\]\n\d+: \(FINISH 3\)/);
    await agent.call("debugger_invoke_restart", { restart: "ABORT" });
    expect(await user().emacs.evaluateInRepl("(+ 1 2)")).to.equal("3");
  });

  it("is refused to the agent's threads and timers, and to its evaluations in frames, including the user's frames", async () => {
    const { emacs } = user();
    for (const start of [
      "(sb-thread:make-thread (lambda () (sb-ext:exit)))",
      "(sb-thread:make-thread (lambda () (sb-thread:make-thread (lambda () (sb-ext:exit :abort t)))))",
      "(sb-ext:schedule-timer (sb-ext:make-timer (lambda () (sb-ext:exit)) :thread t) 0.05)",
    ]) {
      const answers = [...(await agent.evaluate(`(progn ${start} nil)`))];
      while (!answers.join().includes("EXIT-REFUSED")) answers.push(...(await agent.evaluate("(sleep 0.05)")));
      await agent.call("debugger_invoke_restart", { restart: "ABORT" });
    }
    await agent.evaluate('(error "of its own")');
    expect(await frame(agent, "(sb-ext:exit)", "auto")).to.include("EXIT-REFUSED");
    await agent.call("debugger_invoke_restart", { restart: "ABORT" });
    await emacs.typeInRepl('(error "the user\'s")');
    const { thread } = await emacs.debuggerShowing("the user's");
    expect(await frame(agent, "(sb-ext:exit)", String(thread))).to.include("EXIT-REFUSED");
    await emacs.pressInDebugger(thread, "q");
    await emacs.debuggerClosed(thread);
    expect(await emacs.evaluateInRepl("(+ 1 2)")).to.equal("3");
  });

  it("is allowed to the user while the agent is connected", async () => {
    await user().emacs.eval("(slime-eval-async '(cl:progn (sb-ext:exit :abort t) nil))");
    await user().emacs.until("(not (slime-connected-p))", "the end of the connection");
  });
});

/** Lisp code that lists what clients change in the image, and its threads. A server that has just connected may still be busy. */
const TRACES = `(defun traces ()
  (list (length swank::*connections*) (length swank::*new-connection-hook*) (length swank::*connection-closed-hook*) (length sb-ext:*exit-hooks*)
        (sort (remove "worker" (mapcar #'sb-thread:thread-name (sb-thread:list-all-threads)) :test #'equal) #'string<)
        (loop for name in '(swank::close-connection% swank::default-connection swank::invoke-default-debugger sb-thread:make-thread sb-ext:exit work)
              collect (and (sb-impl::encapsulation-info (sb-kernel:%coerce-name-to-fun name)) t))))`;

/** Seconds. The server waits that long for running calls at the end of its input. */
const TIMEOUT = 3;

/** Code that runs until it is ended, and counts itself first. */
const ENDLESS = ["(loop)", '(loop (print "agent\'s"))', "(unwind-protect (loop) (loop))"].map(
  (code) => `(progn (sb-ext:atomic-incf (car *begun*)) ${code})`,
);

const LEAVE: Readonly<Record<string, (agent: McpStdio) => Promise<unknown>>> = {
  "is killed": async (agent) => {
    agent.process.kill("SIGKILL");
    await agent.exited;
  },
  "ends at the end of its input": (agent) => agent.end(),
};

describe("swank-mcp beside Emacs", function () {
  this.timeout(300_000);
  const user = eachUser();
  for (const [how, leave] of Object.entries(LEAVE))
    it(`leaves nothing in the image when it ${how}, and Emacs keeps working`, async () => {
      const { emacs } = user();
      await emacs.evaluateInRepl("(defun work (n) (* n 2))");
      await emacs.evaluateInRepl(TRACES);
      await emacs.typeInRepl('(restart-case (error "the user\'s") (go-on () :went-on))');
      const theirs = await emacs.debuggerShowing("the user's");
      const other = await user().anotherEmacs();
      await other.connect(user().port);
      await other.evaluateInRepl("(defvar *before* (traces))");

      const agent = await user().agent("--foreign-errors", "mine", "--approval", "off");
      await agent.evaluate("1");
      const foreign = `(progn (sb-thread:make-thread (lambda () (restart-case (error "a thread's") (give () (print :given))))) nil)`;
      await other.evaluateInRepl(foreign);
      await agent.call("breakpoint_set", { function: "work", thread: "any" });
      await other.evaluateInRepl("(defvar *worked* (sb-thread:make-thread (lambda () (work 21))))");
      while (
        !/(?=.*Breakpoint 1 on)(?=.*"message":"a thread's")/.test(blocks(await agent.call("lisp-status"))[0] ?? "")
      )
        await pause(50);
      await agent.evaluate('(defun deep (n) (if (zerop n) (error "agent\'s") (1+ (deep (1- n))))) (deep 3)');
      await agent.evaluate('(break "agent\'s")');
      await agent.evaluate("(defvar *begun* (list 0))");
      const loops = ENDLESS.map((code) =>
        agent.startCall("evaluate-lisp", { code, timeout: TIMEOUT }).result.catch(() => undefined),
      );
      while ((await other.evaluateInRepl("(car *begun*)")) !== "3") await pause(20);

      await leave(agent);
      await Promise.all(loops);
      expect(await other.evaluateInRepl("(sb-thread:join-thread *worked*)")).to.equal("42");
      const handed = await other.debuggerShowing("a thread's");
      expect(handed.restarts.map(({ name }) => name)).to.deep.equal(["GIVE", "ABORT"]);
      await other.invokeRestart(handed.thread, 0);
      await other.debuggerClosed(handed.thread);
      expect(await other.evaluateInRepl("(loop until (equal *before* (traces)) do (sleep 0.02))")).to.equal("NIL");
      await emacs.invokeRestart(theirs.thread, 0);
      await emacs.prompt();
      expect(await emacs.replText()).to.match(/:WENT-ON/);
      expect(await emacs.replText()).to.not.include("agent's");
      const next = await user().agent();
      expect(await next.evaluate("(work 4)")).to.deep.equal(["=> 8"]);
    });
});
