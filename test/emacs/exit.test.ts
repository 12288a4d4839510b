import { expect } from "chai";
import { blocks } from "../support/mcp-results.js";
import type { McpStdio } from "../support/mcp-stdio.js";
import { oneUser } from "./user.js";

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
