import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveDebugger } from "../../support/live-server.js";

const CODE = `
(defpackage :shapes (:use :cl))
(in-package :shapes)
(defclass shape () ((side :initform 2 :initarg :side :accessor side)))
(defclass square (shape) ())
(defgeneric area (shape &key))
(defmethod area ((s shape) &key (scale 1)) (* scale (side s)))
(defmethod area ((s square) &key scale) (declare (ignore scale))
  (* 10 (call-next-method s :scale 3)))
(defmethod area :around ((s shape) &key) (1+ (call-next-method)))
(defmethod area :before ((s square) &key) nil)
(defgeneric kind (shape))
(defmethod kind ((s shape)) :shape)
(defmethod kind ((s square)) :square)
(defgeneric total (shape) (:method-combination +))
(defmethod total + ((s shape)) 1)
(defmethod total + ((s square)) 2)
(defmethod named ((n (eql 3))) (call-next-method))
(defmethod named ((n integer)) (list n))
(defmethod print-object ((s shape) stream) (print-unreadable-object (s stream) (princ "shape" stream)))
(defmethod print-object ((s square) stream) (print-unreadable-object (s stream) (princ "square" stream)))
(defmethod initialize-instance :after ((s square) &key) nil)
(defun make () (make-instance 'square :side 4))
(defvar *shape* (make-instance 'shape))
(defvar *square* (make))
(in-package :cl-user)
:ready`;

describe("breakpoints on methods", () => {
  const lisp = liveDebugger({ code: CODE });

  /** Returns the calls at which an evaluation stops, and its final answer. */
  async function calls(code: string): Promise<string[]> {
    const seen: string[] = [];
    let [report = ""] = await lisp.evaluate(code);
    while (report.startsWith("[BREAKPOINT]")) {
      seen.push(/^0: (.*)$/m.exec(report)?.[1] ?? report);
      [report = ""] = await lisp.resume("debugger_continue");
    }
    return [...seen, report];
  }

  it("stop when that method runs, not whenever it is applicable", async () => {
    await lisp.setBreakpoint({ function: "(method shapes::kind (shapes::shape))" });
    expect(await calls("(shapes::kind shapes::*square*)")).to.deep.equal(["=> :SQUARE"]);
    expect(await calls("(shapes::kind shapes::*shape*)")).to.deep.equal([
      "((:METHOD SHAPES::KIND (SHAPES::SHAPE)) #<shape>)",
      "=> :SHAPE",
    ]);
    expect((await lisp.breakpoints())[0]).to.include({ hits: 1, state: "armed" });
  });

  it("stop at call-next-method, with the arguments of that call", async () => {
    const { function: name } = await lisp.setBreakpoint({ function: "(method shapes::area (shapes::shape))" });
    expect(name).to.equal("(METHOD SHAPES::AREA (SHAPES::SHAPE))");
    const blocks = await lisp.evaluate("(shapes::area shapes::*square* :scale 5)");
    expectFacts(
      blocks.join("\n"),
      "on (METHOD SHAPES::AREA (SHAPES::SHAPE)), hit 1.",
      "0: ((:METHOD AREA (SHAPE)) #<square> :SCALE 3)\n1: ",
      "((:METHOD AREA (SQUARE)) #<square> :SCALE 5)",
      "((:METHOD AREA :AROUND (SHAPE)) #<square> :SCALE 5)",
      "Locals of frame 0, …\n  S = #<square>\n  SCALE = 3\nSymbols are printed from package SHAPES.",
    );
    const locals = await lisp.locals("((:METHOD");
    expect(locals.map(({ name: local, value }) => `${local}=${value}`)).to.deep.equal(["S=#<square>", "SCALE=3"]);
    expect(await lisp.valuesInFrame(0, "(* 2 scale)")).to.deep.equal(["6"]);
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> 121"]);
  });

  it("name the qualifiers and specializers", async () => {
    const around = await lisp.setBreakpoint({ function: "(:method shapes::area :around (shapes::shape))" });
    expect(around.function).to.equal("(METHOD SHAPES::AREA :AROUND (SHAPES::SHAPE))");
    await lisp.setBreakpoint({ function: "(method shapes::area :before (shapes::square))" });
    expect(await calls("(shapes::area shapes::*square*)")).to.deep.equal([
      "((:METHOD SHAPES::AREA :AROUND (SHAPES::SHAPE)) #<square>)",
      "((:METHOD AREA :BEFORE (SQUARE)) #<square>)",
      "=> 121",
    ]);
  });

  it("work for eql specializers and other method combinations", async () => {
    await lisp.setBreakpoint({ function: "(method shapes::named ((eql 3)))" });
    await lisp.setBreakpoint({ function: "(method shapes::named (integer))" });
    await lisp.setBreakpoint({ function: "(method shapes::total + (shapes::shape))" });
    expect(await calls("(shapes::named 3)")).to.deep.equal([
      "((:METHOD SHAPES::NAMED ((EQL 3))) 3)",
      "((:METHOD SHAPES::NAMED (INTEGER)) 3)",
      "=> (3)",
    ]);
    expect(await calls("(shapes::total shapes::*square*)")).to.deep.equal([
      "((:METHOD SHAPES::TOTAL + (SHAPES::SHAPE)) #<square>)",
      "=> 3",
    ]);
  });

  it("work for slot accessors, which SBCL calls without running a method", async () => {
    expect(await calls("(shapes::side shapes::*square*)")).to.deep.equal(["=> 4"]);
    await lisp.setBreakpoint({ function: "(method shapes::side (shapes::shape))" });
    await lisp.setBreakpoint({ function: "(method (setf shapes::side) (t shapes::shape))" });
    expect(await calls("(setf (shapes::side shapes::*square*) (shapes::side shapes::*square*))")).to.deep.equal([
      "((:METHOD SHAPES::SIDE (SHAPES::SHAPE)) #<square>)",
      "((:METHOD (SETF SHAPES::SIDE) (T SHAPES::SHAPE)) 4 #<square>)",
      "=> 4",
    ]);
  });

  it("work for methods that return constants, called any number of times", async () => {
    const code = "(loop repeat 4 collect (shapes::kind shapes::*square*))";
    expect((await calls(code)).at(-1)).to.equal("=> (:SQUARE :SQUARE :SQUARE :SQUARE)");
    await lisp.setBreakpoint({ function: "(method shapes::kind (shapes::square))" });
    expect(await calls(code)).to.have.lengthOf(5);
  });

  it("work for initialize-instance in compiled constructors, and leave none behind", async () => {
    await lisp.setBreakpoint({ function: "(method initialize-instance :after (shapes::square))" });
    expect(await calls("(shapes::make)")).to.deep.equal([
      "((:METHOD INITIALIZE-INSTANCE :AFTER (SHAPES::SQUARE)) #<square> :SIDE 4)",
      "=> #<square>",
    ]);
    await lisp.removeBreakpoints();
    expect(await calls("(shapes::make)")).to.deep.equal(["=> #<square>"]);
  });

  it("stop where the program prints, but not while the debugger prints", async () => {
    await lisp.setBreakpoint({ function: "(method print-object (shapes::square t))" });
    expect(await calls("(length (princ-to-string shapes::*square*))")).to.have.lengthOf(2);
    expect(await calls("shapes::*square*")).to.deep.equal(["=> #<square>"]);
    expect(await lisp.refusal("breakpoint_set", { function: "(method print-object (t t))" })).to.include({
      type: "BREAKPOINT_REFUSED",
    });
  });

  it("survive redefinition of the method and of the generic function, and are lost while the method is gone", async () => {
    await lisp.evaluate("(defgeneric again (x)) (defmethod again ((x integer)) x)");
    await lisp.setBreakpoint({ function: "(method again (integer))" });
    await lisp.evaluate("(defmethod again ((x integer)) (list x x))");
    expect(await calls("(again 1)")).to.deep.equal(["((:METHOD AGAIN (INTEGER)) 1)", "=> (1 1)"]);
    await lisp.evaluate("(fmakunbound 'again)");
    expect((await lisp.breakpoints())[0]).to.include({ state: "lost" });
    await lisp.evaluate("(defgeneric again (x)) (defmethod again ((x integer)) (list x))");
    expect((await lisp.breakpoints())[0]).to.include({ state: "armed" });
    expect(await calls("(again 1)")).to.deep.equal(["((:METHOD AGAIN (INTEGER)) 1)", "=> (1)"]);
    await lisp.evaluate("(defmethod again :around ((x integer)) (call-next-method))");
    expect(await calls("(again 1)")).to.have.lengthOf(2);
  });

  it("can be stepped into", async () => {
    await lisp.evaluate("(defmethod stepped ((x integer)) (list (named-list x))) (defun named-list (x) (list x))");
    await lisp.setBreakpoint({ function: "(method stepped (integer))" });
    await lisp.evaluate("(stepped 1)");
    expect((await lisp.resume("debugger_step", { mode: "into" }))[0]).to.match(
      /^\[STEP\] STEP-FORM-CONDITION\nEvaluating call:\n {2}\(NAMED-LIST X\)/,
    );
  });

  it("count every run in several threads", async () => {
    const { id } = await lisp.setBreakpoint({
      function: "(method shapes::kind (shapes::square))",
      thread: "any",
      hit_count: 1_000_000,
    });
    await lisp.evaluate(`(mapc #'sb-thread:join-thread
      (loop repeat 4 collect (sb-thread:make-thread (lambda () (loop repeat 5000 do (shapes::kind shapes::*square*))))))`);
    expect((await lisp.breakpoints()).find((each) => each.id === id)).to.include({ hits: 20_000 });
  });

  it("leave nothing behind when they are removed or the session is reset", async () => {
    const encapsulated = `(remove-if-not (lambda (name) (ignore-errors (sb-impl::encapsulation-info (symbol-function name))))
      '(sb-pcl::maybe-trace-method sb-pcl::accessor-values sb-pcl::final-accessor-dfun-type sb-pcl::use-constant-value-dfun-p
        sb-pcl::around-or-nonstandard-primary-method-p sb-pcl::hairy-around-or-nonstandard-primary-method-p))`;
    await lisp.setBreakpoint({ function: "(method shapes::kind (shapes::square))" });
    expect(await calls("(shapes::kind shapes::*square*)")).to.have.lengthOf(2);
    await lisp.removeBreakpoints();
    expect(await lisp.evaluate(encapsulated)).to.deep.equal(["=> NIL"]);
    await lisp.setBreakpoint({ function: "(method shapes::kind (shapes::square))" });
    await lisp.call("reset-session");
    await lisp.evaluate(CODE);
    expect(await lisp.evaluate(encapsulated)).to.deep.equal(["=> NIL"]);
    expect(await calls("(shapes::kind shapes::*square*)")).to.deep.equal(["=> :SQUARE"]);
  });
});
