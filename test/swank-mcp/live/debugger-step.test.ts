import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveDebugger } from "../../support/live-server.js";
import { McpDebugger } from "../../support/mcp-debugger.js";
import { blocks } from "../../support/mcp-results.js";
import { normalized } from "../../support/normalized.js";

const CODE = `
(defun inner (x) (* x 2))
(defun middle (x) (let ((y (inner x))) (+ y (inner y))))
(defun outer (n) (list (middle n) (middle (1+ n))))
(defun breaking (n) (break "here") (let ((z (inner n))) (list z (middle z))))
(defun around (n) (vector (breaking n) (inner 100)))`;

/** The place in a report: the next call, its arguments, and the current frame. */
interface Place {
  readonly form: string | undefined;
  readonly frame: string | undefined;
  readonly text: string;
}

describe("debugger_step", () => {
  const lisp = liveDebugger({ code: CODE });

  async function step(mode: string): Promise<Place> {
    const result = await lisp.call("debugger_step", { mode });
    const text = blocks(result).join("\n\n");
    expect(result.isError, text).to.equal(false);
    return {
      form: /Evaluating call:\n {2}(.*)\n/.exec(text)?.[1],
      frame: /\[Backtrace\]\n\d+: (.*)/.exec(text)?.[1],
      text,
    };
  }

  it("steps into a call from a breakpoint, and shows the form, the frame and the arguments", async () => {
    await lisp.setBreakpoint({ function: "middle" });
    await lisp.evaluate("(outer 1)");
    const result = await lisp.call("debugger_step", { mode: "into" });
    expectFacts(
      normalized(blocks(result).join("\n\n")),
      "[STEP] STEP-FORM-CONDITION\nEvaluating call:\n  (INNER X)\nWith arguments:\n  1\n\n[Backtrace]\n0: (MIDDLE 1)\n1: (OUTER 1)\n",
      "Stopped, nothing unwound: thread <n>/1.…1. STEP-CONTINUE - …2. STEP-OUT - …3. STEP-NEXT - …4. STEP-INTO - …5. ABORT - ",
      "Locals of frame 0, (MIDDLE 1):\n  X = 1",
    );
    expect(result._meta?.["swank-mcp/outcome"]).to.deep.include({ stop: { reason: "step", form: "(INNER X)" } });
    expect(await step("into")).to.include({ form: "(* X 2)", frame: "(INNER 1)" });
  });

  it("steps over a call from a breakpoint", async () => {
    await lisp.setBreakpoint({ function: "middle" });
    await lisp.evaluate("(outer 1)");
    await lisp.removeBreakpoints();
    expect(await step("over")).to.include({ form: "(INNER X)", frame: "(MIDDLE 1)" });
    const next = await step("over");
    expect(next).to.include({ form: "(INNER Y)", frame: "(MIDDLE 1)" });
    expect(next.text).to.include("With arguments:\n  2");
    expect(next.text).to.include("X = 1").and.to.include("Y = 2");
  });

  it("steps out of the function from a breakpoint", async () => {
    await lisp.setBreakpoint({ function: "middle" });
    await lisp.evaluate("(outer 1)");
    await lisp.removeBreakpoints();
    expect(await step("out")).to.include({ form: "(+ N 1)", frame: "(OUTER 1)" });
    expect(await step("over")).to.include({ form: "(MIDDLE (1+ N))", frame: "(OUTER 1)" });
    expect((await step("over")).text).to.equal("=> (6 12)");
  });

  it("steps into, over and out from (break)", async () => {
    await lisp.evaluate("(around 3)");
    expect(await step("into")).to.include({ form: "(INNER N)", frame: "(BREAKING 3)" });
    expect(await step("into")).to.include({ form: "(* X 2)", frame: "(INNER 3)" });
    expect(await step("out")).to.include({ form: "(MIDDLE Z)", frame: "(BREAKING 3)" });
    expect(await step("over")).to.include({ form: "(INNER 100)", frame: "(AROUND 3)" });
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> #((6 36) 200)"]);
    await lisp.evaluate("(around 3)");
    expect(await step("out")).to.include({ form: "(INNER 100)", frame: "(AROUND 3)" });
    expect((await step("out")).text).to.equal("=> #((6 36) 200)");
    await lisp.evaluate("(around 3)");
    expect(await step("over")).to.include({ form: "(INNER N)", frame: "(BREAKING 3)" });
    expect(await step("over")).to.include({ form: "(MIDDLE Z)", frame: "(BREAKING 3)" });
  });

  it("steps into, over and out from (step ...)", async () => {
    const [report] = await lisp.evaluate("(step (outer 3))");
    expect(report).to.match(/^\[STEP\] STEP-FORM-CONDITION\nEvaluating call:\n {2}\(OUTER 3\)\nWith arguments:\n {2}3/);
    expect(await step("into")).to.include({ form: "(MIDDLE N)", frame: "(OUTER 3)" });
    expect(await step("into")).to.include({ form: "(INNER X)", frame: "(MIDDLE 3)" });
    expect(await step("out")).to.include({ form: "(+ N 1)", frame: "(OUTER 3)" });
    expect((await step("out")).text).to.equal("=> (18 24)");
    await lisp.evaluate("(step (outer 3))");
    expect((await step("over")).text).to.equal("=> (18 24)");
  });

  it("stops at a breakpoint on the way, and then steps out of only that function", async () => {
    await lisp.evaluate("(around 3)");
    await lisp.setBreakpoint({ function: "inner", condition: "(= (car args) 12)" });
    expect(await step("over")).to.include({ form: "(INNER N)" });
    expect(await step("over")).to.include({ form: "(MIDDLE Z)" });
    expect((await step("over")).text).to.match(/^\[BREAKPOINT\]/);
    expect(await step("out")).to.include({ form: "(+ Y (INNER Y))", frame: "(MIDDLE 6)" });
  });

  it("stops stepping at debugger_continue, which runs to the end", async () => {
    await lisp.setBreakpoint({ function: "inner", condition: "(= (car args) 4)" });
    await lisp.evaluate("(outer 1)");
    await step("into");
    await lisp.removeBreakpoints();
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (6 12)"]);
  });

  it("can be finished by debugger_continue after a timeout", async () => {
    await lisp.evaluate(`(defvar *gate* nil) (defun slow (n) (loop until *gate* do (sleep 0.01)) n)
(defun waits (n) (break) (let ((z (slow n))) (list z (inner z))))
(defun enters (n) (list (waits n) (inner n)))`);
    const late = async (mode: string, form: string) => {
      await lisp.evaluate("(setf *gate* nil)");
      await lisp.evaluate("(enters 3)");
      if (mode !== "out") expect((await step("over")).form).to.equal("(SLOW N)");
      const text = blocks(await lisp.call("debugger_step", { mode, timeout: 0.5 })).join("\n");
      expect(text).to.match(/^\[TIMEOUT\] TIMEOUT/);
      expect(text).to.include(
        `The step (${mode}) has not ended. debugger_continue finishes it. debugger_step begins a new one from where the code is now.`,
      );
      // it is interrupted again, and still the same step
      const again = blocks(await lisp.call("debugger_continue", { timeout: 0.5 })).join("\n");
      expect(again).to.include(`The step (${mode}) has not ended.`);
      await lisp.evaluate("(setf *gate* t)");
      const finished = (await lisp.resume("debugger_continue")).join("\n");
      expect(finished).to.include(`Evaluating call:\n  ${form}\n`).and.not.include("has not ended");
    };
    await late("over", "(INNER Z)");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> ((3 6) 6)"]);
    await late("out", "(INNER N)");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> ((3 6) 6)"]);
    // a step that has ended is not open at a later timeout
    await lisp.evaluate("(setf *gate* t)");
    await lisp.evaluate("(enters 3)");
    await step("over");
    await lisp.evaluate("(setf *gate* nil)");
    const plain = (await lisp.resume("debugger_continue", { timeout: 0.5 })).join("\n");
    expect(plain)
      .to.match(/^\[TIMEOUT\]/)
      .and.not.include("has not ended");
    await lisp.evaluate("(setf *gate* t)");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> ((3 6) 6)"]);
  });

  it("skips calls that only a macro of Lisp contains", async () => {
    await lisp.evaluate("(defun looping () (break) (let ((s 0)) (dolist (x (list 1 2) s) (incf s (inner x)))))");
    await lisp.evaluate("(looping)");
    const forms = [];
    for (let place = await step("over"); place.form !== undefined; place = await step("over")) forms.push(place.form);
    expect(forms).to.deep.equal(["(INNER X)", "(+ (INNER X) S)", "(INNER X)", "(+ (INNER X) S)"]);
  });

  it("passes through code that has no steppable calls", async () => {
    await lisp.evaluate(`
(defun mapping (list) (mapcar #'inner list))
(defgeneric handled (n)) (defmethod handled ((n integer)) (inner n)) (defmethod handled :around (n) (list (call-next-method)))`);
    await lisp.setBreakpoint({ function: "mapping" });
    await lisp.evaluate("(mapping '(1 2))");
    expect((await step("into")).frame).to.equal("(INNER 1)");
    await lisp.abortAll();
    await lisp.evaluate("(mapping '(1 2))");
    expect(await lisp.resume("debugger_step", { mode: "over" })).to.deep.equal(["=> (2 4)"]);
    await lisp.setBreakpoint({ function: "handled" });
    await lisp.evaluate("(handled 1)");
    expect(await step("into")).to.include({ form: "(INNER N)" });
  });

  it("shows the failed call, and no frames of the stepper, after a step into an error", async () => {
    await lisp.evaluate('(defun failing (n) (error "no ~a" n)) (defun before-failing (n) (failing n) n)');
    await lisp.setBreakpoint({ function: "before-failing" });
    await lisp.evaluate("(before-failing 1)");
    await step("into");
    expect((await step("into")).form).to.equal('(ERROR "no ~a" N)');
    const [report = ""] = await lisp.resume("debugger_step", { mode: "into" });
    expect(report).to.match(
      /^\[ERROR\] SIMPLE-ERROR\nno 1\n\n\[Backtrace\]\n\d+: \(FAILING 1\)\n\d+: \(BEFORE-FAILING 1\)/,
    );
  });

  it("refuses to step into or over in code without stepping information, names the remedy, and steps out", async () => {
    const plain = await McpDebugger.start({ args: ["--policy", "keep"] });
    try {
      await plain.evaluate(`${CODE} (defun plain (n) (print n) (break) (list (inner n) n))`);
      const before = await plain.evaluate("(plain 3)");
      for (const mode of ["into", "over"]) {
        const { type, message, next } = await plain.refusal("debugger_step", { mode });
        expect(type).to.equal("NOT_STEPPABLE");
        expect(message).to.equal("COMMON-LISP-USER::PLAIN is compiled without stepping information.");
        expect(next).to.include("Evaluate the definition").and.to.include("(optimize (debug 3))");
      }
      expect(before.join("\n")).to.include(`thread ${(await plain.stops())[0]}`);
      expect(await plain.resume("debugger_step", { mode: "out" })).to.deep.equal(["=> (6 3)"]);
      await plain.setBreakpoint({ function: "middle" });
      await plain.evaluate("(outer 1)");
      expect(await plain.refusal("debugger_step", { mode: "into" })).to.include({ type: "NOT_STEPPABLE" });
    } finally {
      await plain.close();
    }
  });

  it("refuses an error, and does not continue it", async () => {
    await lisp.evaluate('(defvar *continued* nil) (progn (cerror "Go on." "x") (setf *continued* (list 1 2)))');
    for (const mode of ["into", "over", "out"]) {
      expect(await lisp.refusal("debugger_step", { mode })).to.deep.include({
        type: "NOT_STEPPABLE",
        next: "debugger_continue invokes its CONTINUE restart: Go on.",
      });
    }
    expect(await lisp.evaluate("*continued*")).to.deep.equal(["=> NIL"]);
    await lisp.abortAll();
    await lisp.evaluate('(error "x")');
    expect(await lisp.refusal("debugger_step", { mode: "over" })).to.include({ type: "NOT_STEPPABLE" });
    expect(await lisp.stops()).to.have.lengthOf(1);
  });

  it("does not signal its own conditions to the program's handlers, and prints nothing", async () => {
    await lisp.evaluate(`(defun step-leaf (n) (list n))
(defun step-worker (n)
  (let ((seen '()))
    (handler-bind ((condition (lambda (c) (push (type-of c) seen))))
      (break)
      (let ((one (step-leaf n)))
        (signal 'simple-condition)
        (list one (step-leaf (1+ n)) seen)))))`);
    await lisp.evaluate("(handler-case (step-worker 1) (sb-ext:step-condition () :lost))");
    let text = "";
    for (let steps = 0; steps < 20 && !text.startsWith("=> "); steps++) {
      [text = ""] = await lisp.resume("debugger_step", { mode: "into" });
      expect(text).to.not.include("; Evaluating");
    }
    expect(text).to.equal("=> ((1) (2) (SIMPLE-CONDITION))");
  });
});
