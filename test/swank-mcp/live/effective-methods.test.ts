import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveDebugger } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

const CODE = `
(defpackage :shapes (:use :cl))
(in-package :shapes)
(defclass shape () ())
(defclass square (shape) ((side :initarg :side :accessor side)))
(defmethod print-object ((s square) stream) (write-string "#<square>" stream))
(defgeneric area (shape unit &key))
(defmethod area ((s shape) unit &key) unit)
(defmethod area ((s square) (unit (eql :cm)) &key) (list (call-next-method)))
(defmethod area ((s square) (unit symbol) &key) (error "no unit ~s" unit))
(defmethod area :around ((s shape) unit &key) (call-next-method))
(defmethod area :before ((s square) unit &key) nil)
(defmethod area :after ((s shape) unit &key) nil)
(defgeneric total (shape) (:method-combination +))
(defmethod total + ((s shape)) 1)
(defmethod total + ((s square)) 2)
(defgeneric alone (x))
(defmethod alone ((x integer)) (error "alone"))
(defgeneric pick (color shape))
(defmethod pick ((color (eql :red)) (s shape)) (call-next-method))
(defmethod pick (color (s shape)) (error "picked"))
(defvar *square* (make-instance 'square :side 2))
(defvar *effects* 0)
(defstruct (noisy (:constructor make-noisy (&aux (n (incf *effects*))))) n)
(in-package :cl-user)
:ready`;

describe("the methods that a call runs", () => {
  const lisp = liveDebugger({ code: CODE });

  /** Returns the second block of describe-symbol for arguments, without the source of the definition. */
  async function called(name: string, args: readonly string[]): Promise<string> {
    const result = await lisp.call("describe-symbol", { name, arguments: args });
    expect(result.isError).to.equal(false);
    return (blocks(result)[1] ?? "").replace(/\n?Defined by evaluated code:[\s\S]*/, "");
  }

  it("are listed by describe-symbol in order, for objects in variables, literals and quoted data", async () => {
    expectFacts(
      await called("shapes::area", ["shapes::*square*", ":cm"]),
      "SHAPES::AREA with arguments shapes::*square* :cm runs:\n  1. (METHOD SHAPES::AREA :AROUND (SHAPES::SHAPE T))\n  2. (METHOD SHAPES::AREA :BEFORE (SHAPES::SQUARE T)), if call-next-method is called\n  3. (METHOD SHAPES::AREA (SHAPES::SQUARE (EQL :CM)))\n  4. …5. …  6. (METHOD SHAPES::AREA :AFTER (SHAPES::SHAPE T))",
    );
    const other = await called("shapes::area", ["shapes::*square*", "'mm", ":scale", "2"]);
    expect(other).to.include("3. (METHOD SHAPES::AREA (SHAPES::SQUARE SYMBOL))\n").and.not.to.include("(EQL :CM)");
  });

  it("are listed by describe-symbol for classes, and for method combinations", async () => {
    expectFacts(
      await called("shapes::area", ["shapes::shape", "symbol"]),
      "SHAPES::AREA with arguments shapes::shape symbol runs:\n  1. (METHOD SHAPES::AREA :AROUND…2. (METHOD SHAPES::AREA (SHAPES::SHAPE T)), if call-next-method is called\n  3. (METHOD SHAPES::AREA :AFTER",
    );
    expectFacts(
      await called("shapes::total", ["shapes::square"]),
      "  1. (METHOD SHAPES::TOTAL + (SHAPES::SQUARE))\n  2. (METHOD SHAPES::TOTAL + (SHAPES::SHAPE))",
    );
    expect(await called("(setf shapes::side)", ["1", "shapes::square"])).to.equal(
      "(SETF SHAPES::SIDE) with arguments 1 shapes::square runs:\n  1. (METHOD (SETF SHAPES::SIDE) (T SHAPES::SQUARE))",
    );
  });

  it("are listed by describe-symbol for objects of a stop, and values of earlier evaluations", async () => {
    await lisp.evaluate('(defun look (shape) (error "~s" shape)) (look shapes::*square*)');
    const [{ object_id: id } = {}] = await lisp.locals("(LOOK");
    expect(await called("shapes::total", [`(swank-objects:ref ${id})`])).to.include("(SHAPES::SQUARE)");
    await lisp.evaluate("shapes::*square*");
    expect(await called("shapes::total", ["*"])).to.include("(SHAPES::SQUARE)");
  });

  it("are not listed if an argument would have to be evaluated, is unknown, or if there are too few", async () => {
    for (const argument of ["(incf shapes::*effects*)", "#.(incf shapes::*effects*)", "#S(shapes::noisy)", "#'car"])
      expect(await called("shapes::total", [argument]), argument).to.match(
        /^The methods that SHAPES::TOTAL runs are unknown: /,
      );
    expect(await lisp.evaluate("shapes::*effects*")).to.deep.equal(["=> 0"]);
    expectFacts(
      [
        await called("shapes::total", ["(f)"]),
        await called("shapes::total", ["nosuch"]),
        await called("shapes::area", ["1"]),
        await called("shapes::total", ["1 2"]),
        await called("shapes::alone", ['"text"']),
        (await called("cl:car", ["1"])).replaceAll(/^\d+ (?=is the character offset)/gm, "<n> "),
      ].join("\n"),
      "(f) would have to be evaluated.",
      "NOSUCH is neither a variable with a value nor a class.",
      "it takes 2 required arguments, not 1.",
      "1 2 is 2 expressions, but each argument is one.",
      'SHAPES::ALONE has no method for "text".',
      "No methods: COMMON-LISP::CAR is not a generic function.",
    );
  });

  it("are listed once by debugger_frames for a method's call", async () => {
    await lisp.evaluate("(shapes::area shapes::*square* :mm)");
    const { frames } = await lisp.frames();
    expect(frames.map(({ methods }) => methods?.length).filter((count) => count !== undefined)).to.deep.equal([5]);
    expect(frames.find(({ methods }) => methods !== undefined)?.methods).to.deep.equal([
      "(METHOD SHAPES::AREA :AROUND (SHAPES::SHAPE T))",
      "(METHOD SHAPES::AREA :BEFORE (SHAPES::SQUARE T)), if call-next-method is called",
      "(METHOD SHAPES::AREA (SHAPES::SQUARE SYMBOL))",
      "(METHOD SHAPES::AREA (SHAPES::SHAPE T)), if call-next-method is called",
      "(METHOD SHAPES::AREA :AFTER (SHAPES::SHAPE T))",
    ]);
  });

  it("are listed by debugger_frames although the compiler has dropped an argument", async () => {
    await lisp.evaluate("(shapes::pick :red shapes::*square*)");
    const { frames } = await lisp.frames();
    expect(frames.find(({ methods }) => methods !== undefined)?.methods).to.deep.equal([
      "(METHOD SHAPES::PICK ((EQL :RED) SHAPES::SHAPE))",
      "(METHOD SHAPES::PICK (T SHAPES::SHAPE)), if call-next-method is called",
    ]);
  });

  it("are listed by debugger_frames at a breakpoint on a generic function, but not for a method that runs alone", async () => {
    await lisp.setBreakpoint({ function: "shapes::total" });
    await lisp.evaluate("(shapes::total shapes::*square*)");
    expect((await lisp.frames({ end: 1 })).frames[0]?.methods).to.deep.equal([
      "(METHOD SHAPES::TOTAL + (SHAPES::SQUARE))",
      "(METHOD SHAPES::TOTAL + (SHAPES::SHAPE))",
    ]);
    await lisp.abortAll();
    await lisp.evaluate("(shapes::alone 1)");
    expect((await lisp.frame("((:METHOD SHAPES::ALONE")).methods).to.equal(undefined);
  });

  it("are looked up without interning the names in the arguments", async () => {
    for (const argument of ["em-unknown-1", "'(em-unknown-2 em-unknown-3)"])
      await called("shapes::area", [argument, "1"]);
    const found = await lisp.evaluate('(length (apropos-list "EM-UNKNOWN"))');
    expect(found[0]).to.equal("=> 0");
  });
});
