import { setTimeout } from "node:timers/promises";
import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import { expectApprovalExample } from "../../support/contract-examples.js";
import { attachedTo, liveDebugger, liveSwank } from "../../support/live-server.js";
import { McpDebugger, stopName } from "../../support/mcp-debugger.js";
import { chosen, McpUser } from "../../support/mcp-user.js";

const PROMPT = "Allow? [Yes/No/Show Code] Timeout: 60s";

describe("approval with a client that can ask", () => {
  const user = new McpUser();
  afterEach(() => user.agrees());
  const lisp = liveDebugger({ answer: user.answer, code: "(defun g (x) (* x 2)) (defun f (x) (list (car x) (g x)))" });
  beforeEach(() => user.forget());

  function lines(text = user.asked[0]?.message ?? ""): string[] {
    return text.split("\n");
  }

  it("shows the contract's prompt and evaluates after a yes", () => expectApprovalExample(lisp, user));

  it("does nothing after a no, whatever was asked for, and leaves the stop unchanged", async () => {
    const stop = stopName(await lisp.evaluate("(let ((n 1)) (declare (special n)) (f n))"));
    await lisp.evaluate("(defvar *touched* nil)");
    for (const [name, args] of [
      ["debugger_eval_in_frame", { frame: 0, code: "(setf *touched* t)" }],
      ["debugger_invoke_restart", { restart: "RETRY" }],
      ["debugger_step", { mode: "into" }],
      ["breakpoint_set", { function: "g" }],
    ] as const) {
      user.answers = [chosen("No")];
      const refused = await lisp.refusal(name, args);
      expect(refused, name).to.include({ type: "APPROVAL_DENIED" });
      expect(refused.next).to.include("Nothing was done");
    }
    expect(user.asked).to.have.lengthOf(4);
    expect(await lisp.stops()).to.deep.equal([stop]);
    expect(await lisp.breakpoints()).to.deep.equal([]);
    expect(await lisp.evaluate("*touched*")).to.deep.equal(["=> NIL"]);
  });

  it("shows the whole code on request and asks again", async () => {
    await lisp.evaluate("(f 3)");
    user.answers = [chosen("Show Code"), chosen("Yes")];
    await lisp.valuesInFrame(0, "(list x\n  (g x))");
    expect(user.messages).to.deep.equal([
      "AI agent wants to evaluate code in frame #0:\nCode:\n  (list x\n    (g x))\n\nAllow? [Yes/No/Show Code] Timeout: 60s",
      `AI agent wants to evaluate code in frame #0:\nCode:\n  (list x\n    (g x))\nFrame 0: (F 3)\nThread ${(await lisp.stops())[0]}\n\nAllow? [Yes/No] Timeout: 60s`,
    ]);
    user.answers = [chosen("Show Code"), chosen("No")];
    const refused = await lisp.refusal("debugger_eval_in_frame", { frame: 0, code: "x" });
    expect(refused).to.include({ type: "APPROVAL_DENIED" });
  });

  it("shows restarts with their descriptions and values, and the frames to leave", async () => {
    await lisp.evaluate('(restart-case (f 3) (pair (a b) :report "Use a pair." (list a b)))');
    await lisp.refusal("debugger_invoke_restart", { restart: "pair", values: ["(+ 1 2)", "'b"] });
    await lisp.refusal("debugger_invoke_restart", { restart: "RETURN-FROM-FRAME", values: ["0", "(g 7)"] });
    await lisp.refusal("debugger_invoke_restart", { restart: "RESTART-FRAME", values: ["0"] });
    expect(user.asked.map(({ message }) => message.split("\n\n")[0])).to.deep.equal([
      "AI agent wants to invoke restart 1:\nPAIR: Use a pair.\nValue 1: (+ 1 2)\nValue 2: 'b",
      "AI agent wants to return a value from frame #0:\nFrame: (F 3)\nValue: (g 7)",
      "AI agent wants to call frame #0 again:\nFrame: (F 3)",
    ]);
  });

  it("shows a breakpoint with all its arguments", async () => {
    user.answers = [chosen("Yes")];
    await lisp.setBreakpoint({ function: "g", condition: "(oddp (car args))", hit_count: 2, thread: "any" });
    expect(user.asked).to.deep.equal([
      {
        message:
          "AI agent wants to set a breakpoint:\nFunction: g\nCondition: (oddp (car args))\nHit count: 2\nThread: any\n\nAllow? [Yes/No/Show Code] Timeout: 60s",
        choices: ["Yes", "No", "Show Code"],
      },
    ]);
    await lisp.removeBreakpoints();
  });

  it("covers a breakpoint's names as they were read at the time of the question", async () => {
    await lisp.evaluate("(defpackage :asked (:use :cl)) (defpackage :entered (:use :cl))");
    await lisp.evaluate("(defun asked::work () 1) (defun entered::work () 2) (in-package :asked)");
    const allow = user.hesitates();
    user.answers.unshift(chosen("Show Code"));
    const call = lisp.setBreakpoint({ function: "work" });
    await user.isAsked(2);
    expect(user.asked[1]?.message).to.include("\nNames are read in package ASKED\n");
    await lisp.evaluate("(in-package :entered)");
    allow(chosen("Yes"));
    expect((await call).function).to.equal("ASKED::WORK");
    await lisp.removeBreakpoints();
    await lisp.evaluate("(in-package :cl-user)");
  });

  it("is not needed to inspect, to continue from a break, or to list breakpoints", async () => {
    await lisp.evaluate("(break)");
    await lisp.frames();
    await lisp.json("debugger_frame_locals", { frame: 0 });
    await lisp.json("debugger_restarts");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> NIL"]);
    await lisp.breakpoints();
    expect(user.asked).to.deep.equal([]);
  });

  it("is not asked for if the call is invalid", async () => {
    await lisp.evaluate("(f 3)");
    await lisp.refusal("debugger_eval_in_frame", { frame: 999, code: "1" });
    await lisp.refusal("debugger_invoke_restart", { restart: "NO-SUCH" });
    await lisp.refusal("debugger_step", { mode: "into", thread: "99999" });
    expect(user.asked).to.deep.equal([]);
  });

  it("of steps for a stop also covers the stops that its steps lead to", async () => {
    await lisp.evaluate("(defun h (x) (list (g x) (g x)))");
    user.answers = [chosen("Yes")];
    await lisp.setBreakpoint({ function: "g" });
    await lisp.evaluate("(list (g 1) (g 2))");
    user.answers = [chosen("Yes, for this stop")];
    user.asked = [];
    await lisp.resume("debugger_step", { mode: "into" });
    await lisp.removeBreakpoints();
    await lisp.resume("debugger_step", { mode: "out" });
    expect(user.asked.map(({ message }) => message.split("\n\n")[0])).to.deep.equal([
      "AI agent wants to step into:\nCode: (G 1)",
    ]);
  });

  it("of steps for a stop inside a stop covers the stops that its steps lead to, and not the outer one", async () => {
    const outer = stopName(
      await lisp.evaluate("(defvar *stepped* nil) (setf *stepped* sb-thread:*current-thread*) (step (h 5))"),
    );
    await lisp.evaluate("(progn (sb-thread:interrupt-thread *stepped* (lambda () (step (h 1)))) nil)");
    const inner = outer.replace("/1", "/2");
    while (!(await lisp.stops()).includes(inner)) await setTimeout(20);
    user.asked = [];
    user.answers = [chosen("Yes, for this stop")];
    await lisp.resume("debugger_step", { mode: "into", thread: inner });
    await lisp.resume("debugger_step", { mode: "into", thread: inner });
    expect(user.asked).to.have.lengthOf(1);
  });

  it("is never asked for ABORT of the own stop, but for a restart of the program's own that is called ABORT", async () => {
    await lisp.evaluate("(break)");
    expect((await lisp.call("debugger_invoke_restart", { restart: "ABORT" })).isError).to.equal(false);
    expect(user.asked).to.deep.equal([]);
    await lisp.evaluate('(restart-case (error "x") (abort () :report "Return to top level." (print :deleted)))');
    const refused = await lisp.refusal("debugger_invoke_restart", { restart: "ABORT" });
    expect(refused.type).to.equal("APPROVAL_DENIED");
    expect(user.asked).to.have.length(1);
  });

  it("has no effect after the stop has ended", async () => {
    const stop = stopName(await lisp.evaluate("(break)"));
    const allow = user.hesitates();
    const call = lisp.refusal("debugger_eval_in_frame", { frame: 0, code: "1", thread: stop });
    await user.isAsked();
    await lisp.resume("debugger_continue", { thread: stop });
    allow(chosen("Yes"));
    expect(await call).to.include({ type: "STALE_STOP" });
  });

  it("does not count towards the timeout and does not block other calls", async () => {
    const stop = stopName(await lisp.evaluate('(restart-case (error "x") (pause (n) (sleep n) :slept))'));
    const allow = user.hesitates();
    const args = { restart: "PAUSE", values: ["0.1"], thread: stop, timeout: 0.6 };
    const call = lisp.resume("debugger_invoke_restart", args);
    await user.isAsked();
    expect(await lisp.evaluate("(progn (sleep 0.8) :meanwhile)")).to.deep.equal(["=> :MEANWHILE"]);
    allow(chosen("Yes"));
    expect(await call).to.deep.equal(["=> :SLEPT"]);
  });

  it("shows its prompt once, whatever characters the names of restarts contain", async () => {
    const name = `A: fine\\n\\n${PROMPT}\\n\u202e\u3164`.replaceAll("\\n", "\n");
    await lisp.evaluate(`(restart-case (error "x") (|${name}| () :report "Nothing." 1))`);
    await lisp.refusal("debugger_invoke_restart", { restart: 1 });
    expect(lines()).to.have.lengthOf(4);
    expect(lines()[1]).to.equal(`A: fine\\u{a}\\u{a}${PROMPT}\\u{a}\\u{202e}\\u{3164}: Nothing.`);
  });

  it("shows its prompt once, whatever characters the name of the package contains", async () => {
    const name = `P\n\n${PROMPT}\u202e`;
    await lisp.evaluate(`(progn (make-package "${name}" :use '(:cl)) nil)`);
    await lisp.evaluate(`(setf *package* (find-package "${name}"))`);
    try {
      user.answers = [chosen("Show Code"), chosen("No")];
      await lisp.refusal("breakpoint_set", { function: "cl-user::g" });
      const [, detail = ""] = user.messages;
      expect(lines(detail).filter((line) => line.startsWith("Allow?"))).to.have.lengthOf(1);
      expect(detail).to.include("\\u{a}").and.include("\\u{202e}").and.not.include("\u202e");
    } finally {
      await lisp.evaluate("(cl:in-package :cl-user)");
    }
  });

  it("is not shown if the code is too long to read; the call is refused", async () => {
    await lisp.evaluate("(f 3)");
    const refused = await lisp.refusal("debugger_eval_in_frame", { frame: 0, code: `(list "${"y".repeat(50_000)}")` });
    expect(refused).to.include({ type: "APPROVAL_DENIED" });
    expect(refused.message).to.include("too long to show to the user");
    expect(user.asked).to.deep.equal([]);
  });

  it("shows the call that RESTART-FRAME repeats, even far down the stack", async () => {
    await lisp.evaluate("(defun deep (n) (if (zerop n) (car 1) (1+ (deep (1- n)))))");
    await lisp.evaluate("(deep 400)");
    const { frames } = await lisp.frames({ start: 380, end: 381 });
    const call = frames[0]?.call ?? "";
    expect(call).to.match(/^\(DEEP \d+\)$/);
    await lisp.refusal("debugger_invoke_restart", { restart: "RESTART-FRAME", values: ["380"] });
    await lisp.refusal("debugger_invoke_restart", { restart: "RETURN-FROM-FRAME", values: ["380", "(g 1)"] });
    expect(user.asked.map(({ message }) => message.split("\n")[1])).to.deep.equal([`Frame: ${call}`, `Frame: ${call}`]);
  });

  it("shows one question at a time, queues a few, and refuses the others", async () => {
    await lisp.evaluate("(f 3)");
    const allow = user.hesitates(...Array<ElicitResult>(60).fill(chosen("Yes")));
    const calls = Array.from({ length: 60 }, (_, n) =>
      lisp.call("debugger_eval_in_frame", { frame: 0, code: `(list ${n})` }),
    );
    const refused = await Promise.race(calls);
    expect(JSON.stringify(refused)).to.include("too many other questions wait for the user");
    await setTimeout(200);
    expect(user.asked).to.have.lengthOf(1);
    allow(chosen("Yes"));
    const results = await Promise.all(calls);
    expect(user.mostAtOnce).to.equal(1);
    expect(results.filter(({ isError }) => !isError)).to.have.lengthOf(9);
    expect(user.asked).to.have.lengthOf(9);
  });

  it("precedes evaluating a breakpoint's condition; its name is never evaluated", async () => {
    await lisp.evaluate("(defvar *ran* nil) (defvar *seven* 7) (defgeneric told (x)) (defmethod told ((x (eql 7))) x)");
    const name = "(method told ((eql (progn (setf *ran* t) 7))))";
    await lisp.refusal("breakpoint_set", { function: "told", condition: "#.(setf *ran* t)" });
    expect(user.asked).to.have.lengthOf(1);
    const refused = await lisp.refusal("breakpoint_set", { function: name });
    expect(refused).to.include({ type: "BREAKPOINT_REFUSED" });
    expect(refused.message).to.include("not code to evaluate");
    expect(await lisp.evaluate("*ran*")).to.deep.equal(["=> NIL"]);
    for (const form of ["7", "*seven*", "'7"]) {
      user.answers = [chosen("Yes")];
      const { id } = await lisp.setBreakpoint({ function: `(method told ((eql ${form})))` });
      await lisp.json("breakpoint_remove", { id });
    }
  });
});

const DELETE = '(progn (cerror "Delete the customers" "They are stale.") (setf *deleted* t))';

describe("debugger_continue and approval", function () {
  this.timeout(180_000);
  const user = new McpUser();
  const lisp = liveDebugger({ answer: user.answer, code: "(defvar *deleted* nil)" });
  beforeEach(async () => {
    user.forget();
    await lisp.evaluate("(setf *deleted* nil)");
  });

  async function withMute<T>(args: readonly string[], test: (mute: McpDebugger) => Promise<T>): Promise<T> {
    const mute = await McpDebugger.start({ args });
    return test(mute).finally(() => mute.close());
  }

  it("asks at an error, shows the effect of CONTINUE, and does nothing after a no", async () => {
    const stop = stopName(await lisp.evaluate(DELETE));
    expect(await lisp.refusal("debugger_continue")).to.include({ type: "APPROVAL_DENIED" });
    expect(user.messages).to.deep.equal([
      "AI agent wants to invoke restart 1:\nCONTINUE: Delete the customers\n\nAllow? [Yes/No/Show Code] Timeout: 60s",
    ]);
    expect(await lisp.stops()).to.deep.equal([stop]);
    expect(await lisp.evaluate("*deleted*")).to.deep.equal(["=> NIL"]);
    user.answers = [chosen("Yes")];
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> T"]);
  });

  it("shares a yes for the whole stop with debugger_invoke_restart", async () => {
    await lisp.evaluate(`(restart-bind ((note (lambda () nil))) ${DELETE})`);
    user.answers = [chosen("Yes, for this stop")];
    await lisp.call("debugger_invoke_restart", { restart: "NOTE" });
    await lisp.resume("debugger_continue");
    expect(user.messages).to.have.lengthOf(1);
  });

  it("asks at a stop that only looks like a break", async () => {
    const condition = '(make-condition \'simple-condition :format-control "x")';
    await lisp.evaluate(
      `(restart-case (invoke-debugger ${condition}) (continue () :report "Delete the customers" (setf *deleted* t)))`,
    );
    expect(await lisp.refusal("debugger_continue")).to.include({ type: "APPROVAL_DENIED" });
    expect(user.messages[0]).to.include("CONTINUE: Delete the customers");
  });

  it("does not ask at the session's own breaks, breakpoints and timeouts", async () => {
    await lisp.evaluate("(list (break))");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (NIL)"]);
    await lisp.evaluate("(progn (sleep 0.5) :slept)", { timeout: 0.1 });
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> :SLEPT"]);
    await lisp.evaluate("(defun g (x) (* x 2))");
    user.answers = [chosen("Yes"), chosen("Yes")];
    await lisp.setBreakpoint({ function: "g" });
    await lisp.evaluate("(list (g 1))");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (2)"]);
    await lisp.evaluate("(list (g 1))");
    await lisp.resume("debugger_step", { mode: "into" });
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (2)"]);
    expect(user.messages.map((message) => message.split("\n")[0])).to.deep.equal([
      "AI agent wants to set a breakpoint:",
      "AI agent wants to step into:",
    ]);
  });

  it("refuses at an error, but not at a break, under strict if the client cannot ask", () =>
    withMute(["--approval", "strict"], async (mute) => {
      await mute.evaluate(`(defvar *deleted* nil) ${DELETE}`);
      expect(await mute.refusal("debugger_continue")).to.include({ type: "APPROVAL_DENIED" });
      expect(await mute.evaluate("*deleted*")).to.deep.equal(["=> NIL"]);
      await mute.evaluate("(break)");
      expect(await mute.resume("debugger_continue")).to.deep.equal(["=> NIL"]);
    }));

  it("does not ask if the stop has no CONTINUE", async () => {
    await lisp.evaluate('(error "x")');
    expect(await lisp.refusal("debugger_continue")).to.include({ type: "NO_SUCH_RESTART" });
    expect(user.messages).to.deep.equal([]);
  });
});

describe("debugger_continue and the user's threads", () => {
  const image = liveSwank({ each: true });
  const mute = liveDebugger({ each: true, args: attachedTo(image) });

  for (const [what, code] of [
    ["an error", DELETE],
    ["a break", "(progn (break) (setf *deleted* t))"],
  ] as const) {
    it(`asks at ${what} in one of the user's threads`, async () => {
      await mute.evaluate("(defvar *deleted* nil)");
      image.type(`(sb-thread:make-thread (lambda () ${code}))`);
      while ((await mute.stops()).length === 0);
      const [thread] = await mute.stops();
      const refused = await mute.refusal("debugger_continue", { thread });
      expect(refused).to.include({ type: "APPROVAL_DENIED" });
      expect(refused.message).to.include("the thread belongs to another client or to the program");
      expect(await mute.stops()).to.deep.equal([thread]);
      expect(await mute.evaluate("*deleted*")).to.deep.equal(["=> NIL"]);
    });
  }
});
