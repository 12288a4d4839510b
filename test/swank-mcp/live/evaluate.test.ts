import { expect } from "chai";
import * as z from "zod";
import { NO_ERROR } from "#swank-mcp/report/stop.js";
import { expectFacts } from "../../support/facts.js";
import { liveServer } from "../../support/live-server.js";
import { allBlocks, blocks } from "../../support/mcp-results.js";
import { normalized } from "../../support/normalized.js";

const outcomes = z.looseObject({ "swank-mcp/outcome": z.looseObject({ milliseconds: z.int() }) });

describe("evaluate-lisp", () => {
  const server = liveServer();

  it("evaluates code and keeps its definitions", async () => {
    expect(await server.evaluate("(defun add (a b) (+ a b)) (defparameter *x* 20)")).to.deep.equal(["=> *X*"]);
    expect(await server.evaluate("(add *x* 22)")).to.deep.equal(["=> 42"]);
  });

  it("reports all values, output and warnings", async () => {
    const [report] = await server.evaluate(
      '(format t "out~%") (format *error-output* "err~%") (warn "careful") (values 1 "two" \'three)',
    );
    expect(report).to.equal(
      '[stdout]\nout\n\n[stderr]\nerr\n\n[warnings]\nWARNING: careful\n\n=> 1\n=> "two"\n=> THREE',
    );
  });

  it("includes the report's data for programs", async () => {
    const { _meta } = await server.call("evaluate-lisp", { code: '(princ "a") 7' });
    const { milliseconds, ...outcome } = outcomes.parse(_meta)["swank-mcp/outcome"];
    expect(milliseconds).to.be.at.least(0);
    expect(outcome).to.deep.equal({
      status: "returned",
      values: ["7"],
      stdout: "a",
      stderr: "",
      warnings: [],
      package: "COMMON-LISP-USER",
    });
  });

  it("notes values of earlier forms that say more than a definition's name", async () => {
    const code =
      '(defun shown (x) x) (shown 1) (print :printed) (shown nil) "constant" (shown :kept) (setf *print-base* 10) 8';
    const [, note] = await server.evaluate(code);
    expectFacts(`${note}`, "Not shown: the values of forms 2, 6. Kept for the next call: /// (form 6).");
    expect((await server.evaluate("(shown 5) (shown 6) 7"))[1]).to.include("// (form 2), /// (form 1)");
    expect(await server.evaluate("(append // ///)")).to.deep.equal(["=> (6 5)"]);
  });

  it("says after the values how long an evaluation took that took longer than a second", async () => {
    const result = await server.call("evaluate-lisp", { code: "(progn (sleep 1.1) :slept)" });
    expect(normalized(allBlocks(result).join("\n\n"))).to.equal("=> :SLEPT\n\nTime: <seconds> s");
    expect(outcomes.parse(result._meta)["swank-mcp/outcome"].milliseconds).to.be.at.least(1100);
  });

  it("counts the time from the last resumption", async () => {
    const stopped = await server.call("evaluate-lisp", { code: "(progn (sleep 1.1) (break) (sleep 0.1) :resumed)" });
    expect(allBlocks(stopped)[1]).to.match(/^Stopped, [\s\S]*\nTime: [\d.]+ s$/);
    const before = performance.now();
    const { _meta } = await server.call("debugger_continue");
    const { milliseconds } = outcomes.parse(_meta)["swank-mcp/outcome"];
    // The client notices the resumption after the thread has resumed.
    expect(milliseconds).to.be.within(50, Math.ceil(performance.now() - before));
  });

  it("keeps the package that the code sets, and accepts another for one call", async () => {
    await server.evaluate("(defpackage :apart (:use :cl)) (in-package :apart) (defvar *y* 5)");
    expect(await server.evaluate("(list *y* (package-name *package*))")).to.deep.equal(['=> (5 "APART")']);
    expect(await server.evaluate("(package-name *package*)", { package: "CL-USER" })).to.deep.equal([
      '=> "COMMON-LISP-USER"',
    ]);
    await server.evaluate("(in-package :cl-user)");
  });

  it("gives the code its stdin, then an end of file", async () => {
    const code = "(list (read-line) (read-line nil nil :end))";
    expect(await server.evaluate(code, { stdin: "one line" })).to.deep.equal(['=> ("one line" :END)']);
  });

  it("reports an error with its live stop, and keeps it as the last error until an evaluation succeeds", async () => {
    const result = await server.call("evaluate-lisp", { code: '(princ "before") (defun half (x) (/ x 0)) (half 4)' });
    expect(result.isError).to.equal(true);
    expect(result).to.not.have.property("structuredContent");
    expectFacts(
      normalized(blocks(result).join("\n\n")),
      "[stdout]\nbefore\n\n[ERROR] DIVISION-BY-ZERO\narithmetic error DIVISION-BY-ZERO signalled\nOperation was (/ 4 0).\n\n[Backtrace]\n1: (HALF 4)\n\nStopped, nothing unwound: thread <n>/1. Other evaluations can still run.\nRestarts:\n  1. ABORT - Return to top level\n  2. RETRY - Evaluate form 3 again, repeating its side effects\nLocals of frame 1, (HALF 4):\n  X = 4",
    );
    expectFacts(
      blocks(await server.call("describe-last-error"))[0] ?? "",
      "Error: DIVISION-BY-ZERO\n  arithmetic error…Available Restarts:\n  1. ABORT - …Backtrace (top 5 frames):\n  1: (HALF 4)\n",
    );
    expect(blocks(await server.call("get-backtrace", { "max-frames": 2 }))[0]).to.match(
      /^\[Backtrace\]\n0: .*\n1: \(HALF 4\)\n/,
    );

    expect((await server.call("evaluate-lisp", { code: "1" })).isError).to.equal(false);
    expect(blocks(await server.call("describe-last-error"))).to.deep.equal([NO_ERROR]);
  });

  it("reports where unbalanced code is wrong, and that none of it ran", async () => {
    const result = await server.call("evaluate-lisp", { code: "(defvar *ran* 1)\n(list (+ 1 2)" });
    expect(result.isError).to.equal(true);
    expect(blocks(result)[1]).to.match(/^By its indentation, .*\n\+ \(list \(\+ 1 2\)\)$/s);
    expect(blocks(result)[0]).to.match(/^\[ERROR\] END-OF-FILE\n.*\nLine 2, column 1: .* Nothing has been evaluated\./);
    expect(await server.evaluate("(boundp '*ran*)")).to.deep.equal(["=> NIL"]);
  });

  it("reports a break differently from an error, and keeps the last error", async () => {
    await server.evaluate('(error "first")');
    const before = blocks(await server.call("describe-last-error"));
    const result = await server.call("evaluate-lisp", { code: '(break "here")' });
    expect(result.isError).to.equal(false);
    expect(blocks(result)[0]).to.match(/^\[BREAK\] SIMPLE-CONDITION\nhere\n\n\[Backtrace\]\n/);
    expect(blocks(await server.call("describe-last-error"))).to.deep.equal(before);
  });

  it("names redefinitions in the second block, with what still uses an old macro", async () => {
    await server.evaluate(
      `(defun average (x) x) (defclass stage () ()) (defgeneric process (stage))
       (defmethod process :around ((stage stage)) stage)
       (defmacro with-row (x) \`(list ,x)) (defun a (x) (with-row x)) (defun b (x) (with-row x)) (defun c (x) (with-row x))`,
    );
    const result = await server.call("evaluate-lisp", {
      code: `(defun average (x) (/ x 2)) (defmethod process :around ((stage stage)) nil)
        (defmacro with-row (x) \`(vector ,x)) (average 4)`,
    });
    expectFacts(
      blocks(result).join("\n\n"),
      "=> 2\n\nRedefined: AVERAGE, (METHOD PROCESS :AROUND (STAGE)), WITH-ROW\nCompiled with the old WITH-ROW: A, B, C (evaluate their definitions again: load-changes with names)",
    );
    expect(result._meta?.["swank-mcp/outcome"])
      .to.have.nested.property("stale[0].users")
      .that.deep.equals(["A", "B", "C"]);
  });

  it("names redefinitions after the stop, when the evaluation stops", async () => {
    await server.evaluate("(defun before-stop () 1)");
    const result = await server.call("evaluate-lisp", { code: "(defun before-stop () 2) (break)" });
    expect(blocks(result)).to.have.lengthOf(2);
    expect(blocks(result)[1]).to.match(/^Stopped, [\s\S]*\nRedefined: BEFORE-STOP$/);
  });

  it("refuses an unknown package, and keeps the last error", async () => {
    await server.evaluate('(error "first")');
    const result = await server.call("evaluate-lisp", { code: "1", package: "NO-SUCH-PACKAGE" });
    expect(result.isError).to.equal(true);
    expect(result.structuredContent).to.have.nested.property("error.data.type");
    expect(blocks(result)[0]).to.include("NO-SUCH-PACKAGE");
    expect(blocks(await server.call("describe-last-error"))[0]).to.include("first");
  });

  it("answers other calls during an evaluation", async () => {
    const slow = server.startCall("evaluate-lisp", { code: "(loop until (boundp '*go*) do (sleep 0.01)) :slow" });
    expect(await server.evaluate("(defvar *go* t)")).to.deep.equal(["=> *GO*"]);
    expect(blocks(await slow.result)).to.deep.equal(["=> :SLOW"]);
  });

  it("reports the image, the current package and the directory in lisp-status", async () => {
    await server.evaluate("(defpackage :left (:use :cl)) (in-package :left)");
    const { structuredContent, content } = await server.call("lisp-status");
    expect(structuredContent).to.include({
      image: "own",
      implementation: "SBCL",
      package: "LEFT",
      directory: `${process.cwd()}/`,
    });
    expect(structuredContent).to.have.nested.property("limits.timeout", 30);
    expect(content).to.deep.equal([{ type: "text", text: JSON.stringify(structuredContent) }]);
  });
});
