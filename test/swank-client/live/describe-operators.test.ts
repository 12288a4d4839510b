import { expect } from "chai";
import { liveClient } from "./live-image.js";
import { found, meaning } from "./symbols.js";

describe("SwankClient.describeSymbol: operators", () => {
  const image = liveClient();

  it("describes a standard function, without packages in its parameters", async () => {
    const [mapcar] = (await found(image.client, "mapcar", "CL")).meanings;
    expect(mapcar).to.deep.include({
      kind: "function",
      name: "COMMON-LISP::MAPCAR",
      arglist: "(FUNCTION LIST &REST MORE-LISTS)",
      documentation:
        "Apply FUNCTION to successive tuples of elements of LIST and MORE-LISTS.\nReturn list of FUNCTION return values.",
    });
    expect(mapcar?.source).to.include({ kind: "file", file: "SYS:SRC;CODE;LIST.LISP" });
    expect(mapcar?.source).to.have.property("position").that.is.a("number");
  });

  const ARGLISTS: readonly (readonly [string, string])[] = [
    ["defun", "(NAME LAMBDA-LIST &BODY BODY)"],
    ["with-open-file", "((STREAM FILESPEC &REST OPTIONS) &BODY BODY)"],
    ["if", "(TEST THEN &OPTIONAL ELSE)"],
    ["getf", "(PLACE INDICATOR &OPTIONAL (DEFAULT NIL))"],
    ["print-object", "(OBJECT STREAM)"],
    ["lisp-implementation-type", "()"],
  ];
  for (const [name, arglist] of ARGLISTS) {
    it(`gives the arglist of ${name}`, async () => {
      expect((await found(image.client, name)).meanings[0]).to.include({ arglist });
    });
  }

  const KINDS: readonly (readonly [string, string])[] = [
    ["car", "function"],
    ["when", "macro"],
    ["let*", "special-operator"],
    ["print-object", "generic-function"],
  ];
  for (const [name, kind] of KINDS) {
    it(`reports that ${name} is a ${kind}`, async () => {
      expect((await found(image.client, name)).meanings[0]).to.include({ kind });
    });
  }

  it("shows every kind of parameter as written", async () => {
    await image.values(`(defpackage "OTHER-PLACE" (:use))
       (defun op-parameters (a other-place::b &optional (c 'other-place::d c-p) &rest e &key f ((:odd g) "x") (h *package*)) (list a other-place::b c c-p e f g h))
       (defmacro op-macro ((a . b) &optional (c #'car) &body body) (list 'quote (list a b c body)))`);
    expect(await meaning(image.client, "op-parameters", "function")).to.include({
      arglist: '(A B &OPTIONAL (C \'OTHER-PLACE::D C-P) &REST E &KEY F ((:ODD G) "x") (H *PACKAGE*))',
    });
    expect(await meaning(image.client, "op-macro", "macro")).to.include({
      arglist: "((A . B) &OPTIONAL (C #'CAR) &BODY BODY)",
    });
  });

  it("counts the methods of a generic function", async () => {
    await image.values(`(defgeneric op-area (shape) (:documentation "How large it is."))
       (defmethod op-area ((shape integer)) shape) (defmethod op-area :around ((shape number)) (call-next-method))`);
    expect(await meaning(image.client, "op-area", "generic-function")).to.include({
      methods: 2,
      arglist: "(SHAPE)",
      documentation: "How large it is.",
    });
    await image.values("(defmethod op-implicit ((x string) &key y) (list x y))");
    const implicit = await meaning(image.client, "op-implicit", "generic-function");
    expect(implicit).to.include({ methods: 1, arglist: "(X &KEY Y)" });
    expect(implicit.source).to.include({
      kind: "evaluation",
      form: "(defmethod op-implicit ((x string) &key y) (list x y))",
    });
  });

  it("includes setf functions and expanders with the symbol's other meanings", async () => {
    expect((await found(image.client, "car")).meanings).to.containSubset([
      { kind: "function", name: "COMMON-LISP::CAR", arglist: "(LIST)" },
      { kind: "function", name: "(SETF COMMON-LISP::CAR)" },
    ]);
    expect((await found(image.client, "getf")).meanings[1]).to.include({
      kind: "setf-expander",
      name: "(SETF COMMON-LISP::GETF)",
    });
    await image.values('(defun (setf op-only-setf) (new place) "Sets." (list new place))');
    expect((await found(image.client, "op-only-setf")).meanings).to.containSubset([
      {
        kind: "function",
        name: "(SETF COMMON-LISP-USER::OP-ONLY-SETF)",
        arglist: "(NEW PLACE)",
        documentation: "Sets.",
      },
    ]);
  });

  it("omits an unknown arglist", async () => {
    await image.values("(setf (fdefinition 'op-closure) (complement #'evenp))");
    const { kind, name } = await meaning(image.client, "op-closure", "function");
    expect({ kind, name }).to.deep.equal({ kind: "function", name: "COMMON-LISP-USER::OP-CLOSURE" });
  });

  it("describes the original function despite tracing and breakpoints", async () => {
    await image.values("(defun op-traced (x) x)");
    const before = await found(image.client, "op-traced");
    await image.values("(trace op-traced)");
    await image.client.breakpoints.set("op-traced");
    expect(await found(image.client, "op-traced")).to.deep.equal(before);
    await image.values("(untrace op-traced)");
  });

  it("answers even if the documentation signals an error", async () => {
    await image.values(`(defclass op-failing () () (:metaclass sb-mop:funcallable-standard-class))
       (defmethod documentation ((object op-failing) type) (error "No documentation for ~a" type))
       (setf (fdefinition 'op-undocumented) (make-instance 'op-failing))`);
    expect((await meaning(image.client, "op-undocumented", "function")).documentation).to.equal(undefined);
  });

  it("answers while an evaluation is stopped with the package lock", async () => {
    const evaluation = image.client.evaluate('(use-package (make-package "OP-USED" :use nil))  (error "parked")');
    await evaluation.next();
    expect((await found(image.client, "mapcar")).name).to.equal("COMMON-LISP::MAPCAR");
    await evaluation.abort();
  });

  it("interns nothing, and does not change history and package", async () => {
    await image.values('(defpackage "OP-QUIET" (:use "CL")) (in-package "OP-QUIET")');
    await image.values("42");
    const count =
      "(loop for package in (list-all-packages) sum (let ((n 0)) (do-symbols (symbol package n) (incf n))))";
    await image.client.describeSymbol("no-such-name-yet");
    const [before] = await image.values(count);
    await image.client.describeSymbol("another-unknown-name");
    await image.client.describeSymbol("op-quiet::unknown-there", { package: "KEYWORD" });
    await image.client.describeSymbol(":unknown-keyword-name");
    await image.client.describeSymbol("x", { package: "NO-SUCH-PACKAGE-NAME" });
    const outcome = await image.evaluate(count);
    expect(outcome).to.deep.include({ status: "returned", values: [before], package: "OP-QUIET" });
    expect(await image.values("(list *** (package-name *package*))")).to.deep.equal(['(42 "OP-QUIET")']);
  });
});
