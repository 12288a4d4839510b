import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { types } from "swank-client";
import { liveClient } from "./live-image.js";
import { values } from "./outcomes.js";
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
  for (const [form, text, cut] of PRINTED)
    it(`prints ${form} within its limits`, async () => expect(await valueMadeBy(form)).to.deep.equal({ text, cut }));

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
  for (const body of UNPRINTABLE)
    it(`reports that printing failed with ${body}`, async () => {
      await image.values(
        `(defclass dv-unprintable () ()) (defmethod print-object ((object dv-unprintable) stream) ${body})`,
      );
      const message = { text: "<error printing value>", cut: undefined };
      expect(await valueMadeBy("(make-instance 'dv-unprintable)")).to.deep.equal(message);
      expect(await valueMadeBy("(list 1 (make-instance 'dv-unprintable))")).to.deep.equal(message);
      expect(await valueMadeBy("1")).to.deep.equal({ text: "1", cut: undefined });
    }).timeout(120_000);

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

  it("describes constants, symbol macros, undeclared variables, classes, structures, conditions and types", async () => {
    await image.values(
      `(defconstant +dv+ 3 "Three.") (define-symbol-macro dv-macro (car *features*)) :dv-keyword
       (locally (declare (sb-ext:muffle-conditions warning)) (setq dv-undeclared 7))
       (defclass dv-base () (a)) (defclass dv-class (dv-base) ((b :initarg :b) |c|) (:documentation "A class."))
       (defstruct (dv-structure (:include structure-object)) "A structure." x)
       (define-condition dv-condition (warning) ((why :initarg :why)))
       (deftype dv-type (&optional (n 3)) "A type." \`(integer 0 ,n))`,
    );
    const value = (text: string) => ({ value: { text, cut: undefined } });
    for (const [name, kind, facts] of [
      ["+dv+", "constant", { documentation: "Three.", ...value("3") }],
      [":dv-keyword", "constant", { name: "KEYWORD::DV-KEYWORD", ...value(":DV-KEYWORD") }],
      ["dv-macro", "symbol-macro", { expansion: "(CAR *FEATURES*)" }],
      ["dv-undeclared", "undeclared-variable", value("7")],
      ["dv-class", "class", { superclasses: ["DV-BASE"], slots: ["B", "c"], documentation: "A class." }],
      [
        "dv-structure",
        "structure",
        { superclasses: ["STRUCTURE-OBJECT"], slots: ["X"], documentation: "A structure." },
      ],
      ["dv-condition", "condition", { superclasses: ["WARNING"], slots: ["WHY"] }],
      ["dv-type", "type", { arglist: "(&OPTIONAL (N 3))", expansion: "(INTEGER 0 3)", documentation: "A type." }],
      ["fixnum", "built-in-class", { superclasses: ["INTEGER"] }],
    ] as const)
      expect(await meaning(image.client, name, kind), name).to.deep.include(facts);
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

const FILE = `;;; Grüße 𝄞
(in-package :cl-user)

#| a comment (with a parenthesis) |#
(defvar *ds-variable* 1)
#+nothing-of-this-name (skipped)
(defun ds-function (x)
  x)
  ; another comment (
  (defmacro ds-macro (x) x)
(defgeneric ds-generic (x)) (defclass ds-class () ())
(defstruct ds-structure a)
(deftype ds-type () 'integer)
(defconstant +ds-constant+ 3)
#+sbcl
(define-condition ds-condition (error) ())
`;

/** Where a definition begins in the file, in characters as Lisp counts them, and its line. */
function place(beginning: string): { readonly position: number; readonly line: number } {
  const before = FILE.slice(0, FILE.indexOf(beginning));
  return { position: [...before].length, line: before.split("\n").length };
}

const PLACES: readonly (readonly [string, string])[] = [
  ["*ds-variable*", "(defvar"],
  ["ds-function", "(defun"],
  ["ds-macro", "(defmacro"],
  ["ds-generic", "(defgeneric"],
  ["ds-class", "(defclass"],
  ["ds-structure", "(defstruct"],
  ["make-ds-structure", "(defstruct"],
  ["ds-type", "(deftype"],
  ["+ds-constant+", "(defconstant"],
  ["ds-condition", "(define-condition"],
];

describe("SwankClient.describeSymbol: the source of a definition", () => {
  const image = liveClient();
  let folder: string;
  let file: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "swank client sources "));
    file = join(folder, "definitions [1].lisp");
    await writeFile(file, FILE);
  });
  after(() => rm(folder, { recursive: true }));

  const native = (path: string) => `(sb-ext:parse-native-namestring ${JSON.stringify(path)})`;

  for (const [manner, form] of [
    ["loaded as source", (path: string) => `(load ${native(path)})`],
    ["compiled", (path: string) => `(load (compile-file ${native(path)}))`],
    ["loaded behind a definition", (path: string) => `(progn (defun ds-before () 1) (load ${native(path)}))`],
    [
      "compiled behind a definition",
      (path: string) => `(progn (defun ds-before () 1) (load (compile-file ${native(path)})))`,
    ],
  ] as const)
    it(`is a file ${manner}`, async () => {
      await image.values(form(file));
      for (const [name, beginning] of PLACES)
        expect((await found(image.client, name)).meanings[0]?.source, name).to.deep.equal({
          kind: "file",
          file,
          ...place(beginning),
        });
    });

  it("is a file without a line after the file was deleted", async () => {
    const fleeting = join(folder, "fleeting.lisp");
    await writeFile(fleeting, "(defvar *ds-fleeting* 1)\n(defun ds-fleeting () 1)");
    await image.values(`(load ${native(fleeting)})`);
    await rm(fleeting);
    expect((await found(image.client, "ds-fleeting")).meanings[0]?.source).to.include({
      kind: "file",
      file: fleeting,
      line: undefined,
    });
    expect((await found(image.client, "*ds-fleeting*")).meanings[0]?.source).to.deep.equal({
      kind: "file",
      file: fleeting,
      position: undefined,
      line: undefined,
    });
  });

  it("is the file that SBCL's logical pathname means, if that is there", async () => {
    const file = join(folder, "src", "code", "list.lisp");
    await mkdir(join(folder, "src", "code"), { recursive: true });
    await writeFile(file, "(in-package :sb-impl)\n");
    await image.values(`(defvar *ds-translations* (logical-pathname-translations "SYS"))
       (setf (logical-pathname-translations "SYS") (list (list "SYS:**;*.*.*" (merge-pathnames "**/*.*" ${native(`${folder}/`)}))))`);
    expect((await found(image.client, "mapcar")).meanings[0]?.source).to.include({ kind: "file", file });
    expect(await image.client.code.showSource("mapcar")).to.have.nested.property("definitions[0].file", file);
    await image.values('(setf (logical-pathname-translations "SYS") *ds-translations*)');
  });

  it("is SBCL's own file for SBCL's functions", async () => {
    expect((await found(image.client, "mapcar")).meanings[0]?.source).to.include({ file: "SYS:SRC;CODE;LIST.LISP" });
    expect((await found(image.client, "*print-base*")).meanings[0]?.source).to.deep.include({
      kind: "file",
      line: undefined,
    });
    expect((await found(image.client, "if")).meanings[0]?.source).to.equal(undefined);
  });

  const EVALUATED: readonly (readonly [string, string])[] = [
    ["ds-e-function", "(defun ds-e-function (x)\n  ;; comment\n  x)"],
    ["ds-e-macro", "(defmacro ds-e-macro (x) x)"],
    ["*ds-e-variable*", "(defvar *ds-e-variable*)"],
    ["ds-e-generic", "(defgeneric ds-e-generic (x))"],
    ["ds-e-class", "(defclass ds-e-class () ())"],
    ["ds-e-structure", "(defstruct ds-e-structure a)"],
    ["ds-e-condition", "(define-condition ds-e-condition (error) ())"],
    ["ds-e-type", "(deftype ds-e-type () 'list)"],
    ["+ds-e-constant+", "(defconstant +ds-e-constant+ 1)"],
    ["ds-e-symbol-macro", "(define-symbol-macro ds-e-symbol-macro 1)"],
    ["ds-e-closure", "(let ((n 0)) (defun ds-e-closure () (incf n)))"],
    ["ds-e-set", "(setf (fdefinition 'ds-e-set) (lambda (x) x))"],
  ];

  it("is the form that was evaluated", async () => {
    const texts = EVALUATED.map(([, form]) => form);
    const code = `;; 𝄞\n${texts.join("\n\n  ; between\n")}\n`;
    await image.values(code);
    for (const [name, form] of EVALUATED) {
      const source = (await found(image.client, name)).meanings[0]?.source;
      expect(source, name).to.include({ kind: "evaluation" });
      expect(source, name)
        .to.have.property("form")
        .that.matches(/^(?:; between\n|;; 𝄞\n)?\(/);
      if (source?.kind !== "evaluation") continue;
      expect(source.form.endsWith(form), source.form).to.equal(true);
      expect([...code].slice(source.position).join("").startsWith(source.form)).to.equal(true);
    }
  });

  it("is the latest form that defined it, from any client", async () => {
    await image.values("(defun ds-again () 1)");
    const other = await image.connect();
    await values(other, "(defun ds-again () 2)");
    expect((await found(image.client, "ds-again")).meanings[0]?.source).to.include({ form: "(defun ds-again () 2)" });
  });

  it("is truncated if the form is long", async () => {
    await image.values(`(defun ds-long () "${"x".repeat(10_000)}")`);
    const source = (await found(image.client, "ds-long")).meanings[0]?.source;
    expect(source).to.have.property("form").with.lengthOf(4003);
  });

  it("does not prevent compiling files after a definition", async () => {
    const plain = join(folder, "plain.lisp");
    await writeFile(plain, "(print 1)");
    await image.values(`(progn (defun ds-beside () 1) (compile-file ${native(plain)}))`);
    const fresh = await image.connect();
    await values(fresh, `(load ${native(join(folder, "plain.fasl"))})`);
  });
});
