import { expect } from "chai";
import { rejection } from "../../support/caught.js";
import { liveClient } from "./live-image.js";
import { values } from "./outcomes.js";
import { found, meaning } from "./symbols.js";

const PACKAGES = `
  (defpackage "DN-APP" (:use "CL") (:export "OPEN-DOOR") (:nicknames "DN-A"))
  (defun dn-app:open-door () t) (defun dn-app::shut-door () t) (defun dn-app::|Mixed Case| () t) (defvar dn-app::|a:b\\|c| 1)
  (defun dn-app::grüße () t)
  (defpackage "dn-lower" (:use)) (intern "X" "dn-lower")
  (defpackage "DN-USER" (:use "CL" "DN-APP") (:local-nicknames ("DOORS" "DN-APP")))`;

describe("SwankClient.describeSymbol: finding the symbol", () => {
  const image = liveClient();
  before(async () => {
    const first = await image.connect();
    await values(first, PACKAGES);
  });

  const FOUND: readonly (readonly [string, string | undefined, string])[] = [
    ["mapcar", undefined, "COMMON-LISP::MAPCAR"],
    ["MapCar", undefined, "COMMON-LISP::MAPCAR"],
    [" mapcar\n", undefined, "COMMON-LISP::MAPCAR"],
    ["'mapcar", undefined, "COMMON-LISP::MAPCAR"],
    ["#'mapcar", undefined, "COMMON-LISP::MAPCAR"],
    ["(setf car)", undefined, "COMMON-LISP::CAR"],
    ["(SETF  cl:car )", undefined, "COMMON-LISP::CAR"],
    ["|CAR|", undefined, "COMMON-LISP::CAR"],
    ["\\C\\A\\R", undefined, "COMMON-LISP::CAR"],
    ["nil", undefined, "COMMON-LISP::NIL"],
    ["dn-app:open-door", undefined, "DN-APP::OPEN-DOOR"],
    ["dn-app::shut-door", undefined, "DN-APP::SHUT-DOOR"],
    ["dn-app:shut-door", undefined, "DN-APP::SHUT-DOOR"],
    ["DN-A:open-door", "KEYWORD", "DN-APP::OPEN-DOOR"],
    ["open-door", "dn-user", "DN-APP::OPEN-DOOR"],
    ["open-door", ":dn-user", "DN-APP::OPEN-DOOR"],
    ["open-door", "#:dn-user", "DN-APP::OPEN-DOOR"],
    ["doors:open-door", "DN-USER", "DN-APP::OPEN-DOOR"],
    ["|Mixed Case|", "dn-app", "DN-APP::|Mixed Case|"],
    ["dn-app::|Mixed Case|", undefined, "DN-APP::|Mixed Case|"],
    ["|a:b\\|c|", "dn-app", "DN-APP::|a:b\\|c|"],
    ["dn-app::grüße", undefined, "DN-APP::GRÜßE"],
    ["x", "|dn-lower|", "|dn-lower|::X"],
    ["|dn-lower|::x", undefined, "|dn-lower|::X"],
    [":use", undefined, "KEYWORD::USE"],
    ["keyword:use", undefined, "KEYWORD::USE"],
  ];
  for (const [name, packageName, expected] of FOUND)
    it(`finds ${JSON.stringify(name)} in ${packageName ?? "CL-USER"}`, async () =>
      expect((await found(image.client, name, packageName)).name).to.equal(expected));

  it("tells whether the symbol is external, internal or inherited", async () => {
    expect(await found(image.client, "open-door", "DN-APP")).to.include({ access: "external", package: "DN-APP" });
    expect(await found(image.client, "shut-door", "DN-APP")).to.include({ access: "internal", package: "DN-APP" });
    expect(await found(image.client, "open-door", "DN-USER")).to.include({ access: "inherited", package: "DN-USER" });
  });

  it("looks in CL-USER in every session, but resolves the session package's local nicknames", async () => {
    await image.values('(in-package "DN-USER")');
    expect(await image.client.describeSymbol("shut-door")).to.deep.equal({
      status: "symbol-not-found",
      name: "SHUT-DOOR",
      package: "CL-USER",
      elsewhere: ["DN-APP::SHUT-DOOR"],
      more: 0,
    });
    expect((await found(image.client, "doors::shut-door")).name).to.equal("DN-APP::SHUT-DOOR");
    expect((await found(image.client, "shut-door", "doors")).name).to.equal("DN-APP::SHUT-DOOR");
  });

  it("lists packages with names similar to a missing one", async () => {
    expect(await image.client.describeSymbol("x", { package: "nonexistent" })).to.deep.equal({
      status: "package-not-found",
      package: "NONEXISTENT",
      similar: [],
    });
    expect(await image.client.describeSymbol("dn:x")).to.deep.equal({
      status: "package-not-found",
      package: "DN",
      similar: ["DN-APP", "DN-USER"],
    });
  });

  it("lists the symbols with that name in other packages, the likeliest first", async () => {
    await image.values(`(defpackage "DN-ONE" (:use) (:export "DN-SOUGHT")) (defpackage "DN-TWO" (:use)) (intern "DN-SOUGHT" "DN-TWO")
       (setf (symbol-value (intern "DN-SOUGHT" "DN-ONE")) 1) (intern "dn-Sought" "CL-USER")`);
    expect(await image.client.describeSymbol("dn-Sought", { package: "DN-APP" })).to.deep.equal({
      status: "symbol-not-found",
      name: "DN-SOUGHT",
      package: "DN-APP",
      elsewhere: ["DN-ONE:DN-SOUGHT", "COMMON-LISP-USER::|dn-Sought|", "DN-TWO::DN-SOUGHT"],
      more: 0,
    });
  });

  it("counts the omitted ones if there are many", async () => {
    await image.values('(dotimes (i 11) (intern "DN-COMMON" (make-package (format nil "DN-MANY-~d" i) :use nil)))');
    const description = await image.client.describeSymbol("dn-common");
    expect(description).to.have.property("elsewhere").with.lengthOf(8);
    expect(description).to.include({ status: "symbol-not-found", more: 3 });
  });

  const ODD: readonly (readonly [string, string])[] = [
    ["", ""],
    [" \t\n", ""],
    ["a b", "A B"],
    ["a\0b", "A\0B"],
    ["\ud800", "\ufffd"],
    ["λ𝄞", "Λ𝄞"],
    ["|unfinished", "unfinished"],
    ["\\", ""],
    ["(", "("],
    ["(setf", "(SETF"],
    [")))", ")))"],
    ['#.(error "x")', '.(ERROR "X")'],
    ["x".repeat(10_000), "X".repeat(10_000)],
    ["'".repeat(100_000), ""],
  ];
  for (const [name, expected] of ODD)
    it(`treats ${JSON.stringify(name).slice(0, 40)} as an unused name`, async () => {
      expect(await image.client.describeSymbol(name)).to.deep.equal({
        status: "symbol-not-found",
        name: expected,
        package: "CL-USER",
        elsewhere: [],
        more: 0,
      });
    });

  it("reports malformed package names as not found", async () => {
    for (const name of ["", "\0", "\ud800", "no such", "x".repeat(10_000), "a:b:c"])
      expect(await image.client.describeSymbol("car", { package: name })).to.include({ status: "package-not-found" });
  });

  it("refuses a name that is not a string", async () => {
    const name: string = JSON.parse("7");
    await rejection(image.client.describeSymbol(name), "INVALID_ARGUMENT");
    await rejection(image.client.describeSymbol("car", { package: name }), "INVALID_ARGUMENT");
  });

  it("answers while packages are created and deleted", async () => {
    await image.client.describeSymbol("car");
    const churn = image.client.evaluate(
      '(dotimes (i 20000) (let ((package (make-package "DN-FLEETING" :use nil))) (intern "DN-CHURN" package) (delete-package package)))',
    );
    const statuses = new Set<string>();
    while (!churn.isSettled) {
      statuses.add((await image.client.describeSymbol("dn-fleeting::dn-churn")).status);
      statuses.add((await image.client.describeSymbol("dn-churn")).status);
      statuses.add((await image.client.describeSymbol("dn-churn", { package: "dn-fleeting" })).status);
    }
    expect((await churn.next()).status).to.equal("returned");
    expect([...statuses]).to.include("symbol-not-found");
  });

  it("answers a session whose package was deleted", async () => {
    await image.values('(defpackage "DN-GONE" (:use "CL")) (in-package "DN-GONE")');
    await image.values('(delete-package "DN-GONE")', { package: "CL-USER" });
    expect((await found(image.client, "car")).name).to.equal("COMMON-LISP::CAR");
    expect(await image.client.describeSymbol("dn-gone::x")).to.include({
      status: "package-not-found",
      package: "DN-GONE",
    });
  });
});

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

  const OPERATORS: readonly (readonly [name: string, kind: string, arglist: string])[] = [
    ["defun", "macro", "(NAME LAMBDA-LIST &BODY BODY)"],
    ["with-open-file", "macro", "((STREAM FILESPEC &REST OPTIONS) &BODY BODY)"],
    ["if", "special-operator", "(TEST THEN &OPTIONAL ELSE)"],
    ["getf", "function", "(PLACE INDICATOR &OPTIONAL (DEFAULT NIL))"],
    ["print-object", "generic-function", "(OBJECT STREAM)"],
    ["lisp-implementation-type", "function", "()"],
  ];
  for (const [name, kind, arglist] of OPERATORS)
    it(`gives the kind and the arglist of ${name}`, async () =>
      expect((await found(image.client, name)).meanings[0]).to.include({ kind, arglist }));

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
