import { expect } from "chai";
import type { types } from "swank-client";
import { liveClient } from "./live-image.js";
import { found, meaning } from "./symbols.js";

describe("SwankClient.describeSymbol: variables, classes and types", () => {
  const image = liveClient();

  /** The value of a variable with that initial value. */
  async function valueMadeBy(form: string): Promise<unknown> {
    await image.values(`(defparameter *dv* ${form})`);
    return (await found(image.client, "*dv*")).meanings.map((entry) => ("value" in entry ? entry.value : undefined))[0];
  }

  it("includes the value and the documentation of a variable", async () => {
    expect(await meaning(image.client, "*print-base*", "variable")).to.deep.include({
      name: "COMMON-LISP::*PRINT-BASE*",
      value: { text: "10", cut: undefined },
    });
    await image.values('(defvar *dv-told* (list "a" #\\b :c \'d 1/2) "Told.")');
    expect(await meaning(image.client, "*dv-told*", "variable")).to.deep.include({
      documentation: "Told.",
      value: { text: '("a" #\\b :C D 1/2)', cut: undefined },
    });
  });

  const PRINTED: readonly (readonly [string, string, types.Cut?])[] = [
    ["(loop for i below 20 collect i)", "(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)"],
    [
      "(loop for i below 21 collect i)",
      "(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 ...)",
      { by: ["length"], shown: 20, total: 21 },
    ],
    [
      "(vector 1 (vector 2 (vector 3 (vector 4))))",
      "#(1 #(2 #(3 #)))",
      { by: ["level"], shown: undefined, total: undefined },
    ],
    ["(let ((list (list 1 2))) (setf (cddr list) list))", "#1=(1 2 . #1#)"],
    ["(let ((part (list 1))) (list part part))", "(#1=(1) #1#)"],
    [
      "(expt 10 100000)",
      "#<integer too long to print: 332193 bits>",
      { by: ["number"], shown: undefined, total: undefined },
    ],
    ["'(quote a)", "(QUOTE A)"],
    ["nil", "NIL"],
  ];
  for (const [form, text, cut] of PRINTED) {
    it(`prints ${form} within its limits`, async () => {
      expect(await valueMadeBy(form)).to.deep.equal({ text, cut });
    });
  }

  it("truncates long values, and says how much of them is shown", async () => {
    expect(await valueMadeBy("(make-string 5000 :initial-element #\\a)")).to.deep.equal({
      text: `"${"a".repeat(2000)}"...`,
      cut: { by: ["characters"], shown: 2000, total: 5000 },
    });
    expect(await valueMadeBy("(list (make-string 5000 :initial-element #\\a))")).to.deep.equal({
      text: `("${"a".repeat(1998)}...`,
      cut: { by: ["characters"], shown: 2000, total: undefined },
    });
  });

  const UNPRINTABLE = [
    '(error "No.")',
    "(sb-sys:interactive-interrupt)",
    "(labels ((deep (x) (1+ (deep x)))) (deep 1))",
    "(loop (sleep 0.01))",
    "(throw 'nowhere 1)",
  ];
  for (const body of UNPRINTABLE) {
    it(`reports that printing failed with ${body}`, async () => {
      await image.values(
        `(defclass dv-unprintable () ()) (defmethod print-object ((object dv-unprintable) stream) ${body})`,
      );
      const message = { text: "<error printing value>", cut: undefined };
      expect(await valueMadeBy("(make-instance 'dv-unprintable)")).to.deep.equal(message);
      expect(await valueMadeBy("(list 1 (make-instance 'dv-unprintable))")).to.deep.equal(message);
      expect(await valueMadeBy("1")).to.deep.equal({ text: "1", cut: undefined });
    }).timeout(120_000);
  }

  it("works after repeated stack exhaustion", async () => {
    await image.values(`(defclass dv-deep () ())
       (defmethod print-object ((object dv-deep) stream) (labels ((deep (x) (1+ (deep x)))) (deep 1)))
       (defvar *dv-deep* (make-instance 'dv-deep))`);
    for (let round = 0; round < 6; round++) {
      expect(await meaning(image.client, "*dv-deep*", "variable")).to.deep.include({
        value: { text: "<error printing value>", cut: undefined },
      });
    }
  });

  it("reports an unbound variable without an error", async () => {
    await image.values("(defvar *dv-unbound*)");
    expect(await meaning(image.client, "*dv-unbound*", "variable")).to.include({ value: undefined });
  });

  it("shows the value that the session's code sees", async () => {
    await image.values('(defpackage "DV-HERE" (:use "CL")) (in-package "DV-HERE")');
    await image.values("'(values of the session)");
    expect(await meaning(image.client, "*package*", "variable")).to.deep.include({
      value: { text: '#<PACKAGE "DV-HERE">', cut: undefined },
    });
    expect(await meaning(image.client, "*", "variable")).to.deep.include({
      value: { text: "(VALUES DV-HERE::OF THE DV-HERE::SESSION)", cut: undefined },
    });
    expect(await meaning(image.client, "cl:**", "variable")).to.deep.include({
      value: { text: '#<PACKAGE "DV-HERE">', cut: undefined },
    });
  });

  it("distinguishes constants, keywords, symbol macros and undeclared variables", async () => {
    await image.values(
      '(defconstant +dv+ 3 "Three.") (define-symbol-macro dv-macro (car *features*)) (locally (declare (sb-ext:muffle-conditions warning)) (setq dv-undeclared 7)) :dv-keyword',
    );
    expect(await meaning(image.client, "+dv+", "constant")).to.deep.include({
      documentation: "Three.",
      value: { text: "3", cut: undefined },
    });
    expect(await meaning(image.client, ":dv-keyword", "constant")).to.deep.include({
      name: "KEYWORD::DV-KEYWORD",
      value: { text: ":DV-KEYWORD", cut: undefined },
    });
    expect(await meaning(image.client, "dv-macro", "symbol-macro")).to.include({ expansion: "(CAR *FEATURES*)" });
    expect(await meaning(image.client, "dv-undeclared", "undeclared-variable")).to.deep.include({
      value: { text: "7", cut: undefined },
    });
  });

  it("describes classes, structures, conditions and types", async () => {
    await image.values(`(defclass dv-base () (a)) (defclass dv-class (dv-base) ((b :initarg :b) |c|) (:documentation "A class."))
       (defstruct (dv-structure (:include structure-object)) "A structure." x)
       (define-condition dv-condition (warning) ((why :initarg :why)))
       (deftype dv-type (&optional (n 3)) "A type." \`(integer 0 ,n))`);
    expect(await meaning(image.client, "dv-class", "class")).to.deep.include({
      superclasses: ["DV-BASE"],
      slots: ["B", "c"],
      documentation: "A class.",
    });
    expect(await meaning(image.client, "dv-structure", "structure")).to.deep.include({
      superclasses: ["STRUCTURE-OBJECT"],
      slots: ["X"],
      documentation: "A structure.",
    });
    expect(await meaning(image.client, "dv-condition", "condition")).to.deep.include({
      superclasses: ["WARNING"],
      slots: ["WHY"],
    });
    expect(await meaning(image.client, "dv-type", "type")).to.include({
      arglist: "(&OPTIONAL (N 3))",
      expansion: "(INTEGER 0 3)",
      documentation: "A type.",
    });
    expect(await meaning(image.client, "fixnum", "built-in-class")).to.deep.include({ superclasses: ["INTEGER"] });
  });

  it("describes all meanings of a symbol, operators first", async () => {
    await image.values(`(defun dv-many (x) "Calls." x) (defvar dv-many 1 "Holds.") (defclass dv-many () () (:documentation "Makes."))
       (defun (setf dv-many) (new x) "Sets." (list new x))`);
    expect(
      (await found(image.client, "dv-many")).meanings.map(({ kind, documentation }) => [kind, documentation]),
    ).to.deep.equal([
      ["function", "Calls."],
      ["class", "Makes."],
      ["variable", "Holds."],
      ["function", "Sets."],
    ]);
  });

  it("finds a symbol without a definition", async () => {
    await image.values("'dv-nothing");
    expect(await found(image.client, "dv-nothing")).to.deep.equal({
      status: "found",
      name: "COMMON-LISP-USER::DV-NOTHING",
      access: "internal",
      package: "COMMON-LISP-USER",
      meanings: [],
    });
  });
});
