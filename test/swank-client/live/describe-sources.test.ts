import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { liveClient } from "./live-image.js";
import { values } from "./outcomes.js";
import { found } from "./symbols.js";

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
  ] as const) {
    it(`is a file ${manner}`, async () => {
      await image.values(form(file));
      for (const [name, beginning] of PLACES) {
        expect((await found(image.client, name)).meanings[0]?.source, name).to.deep.equal({
          kind: "file",
          file,
          ...place(beginning),
        });
      }
    });
  }

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
