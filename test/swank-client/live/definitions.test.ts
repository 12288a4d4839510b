import { rm } from "node:fs/promises";
import { expect } from "chai";
import { DEFINITION_KINDS, type SwankClient } from "swank-client";
import { liveClient, liveImage } from "./live-image.js";
import { evaluate, stopped, values } from "./outcomes.js";
import { testFolder } from "./test-folder.js";

/** What is listed, as `kind name`, with a mark for what was redefined or changed. */
async function listed(client: SwankClient): Promise<string[]> {
  const { definitions } = await client.definitions();
  return definitions.map(
    ({ kind, name, redefined, changed }) =>
      `${kind} ${name.replaceAll("COMMON-LISP-USER::", "")}${redefined ? " redefined" : ""}${changed ? " changed" : ""}`,
  );
}

describe("SwankClient.definitions", () => {
  const image = liveClient();
  const folder = testFolder();

  const KINDS: readonly (readonly [string, readonly string[]])[] = [
    ["(defun d-f (x) x)", ["function D-F"]],
    ["(defun (setf d-f) (new x) (list new x))", ["function (SETF D-F)"]],
    ["(let ((n 0)) (defun d-counter () (incf n)))", ["function D-COUNTER"]],
    ["(setf (fdefinition 'd-set) (lambda (x) x))", ["function D-SET"]],
    ["(setf (symbol-function 'd-set-2) (lambda (x) x))", ["function D-SET-2"]],
    ["(setf (macro-function 'd-set-3) (lambda (form env) (declare (ignore env)) form))", ["macro D-SET-3"]],
    ["(defmacro d-m (x) x)", ["macro D-M"]],
    ["(defvar *d-v* 1)", ["variable *D-V*"]],
    ["(defvar *d-unbound*)", ["variable *D-UNBOUND*"]],
    ["(defparameter *d-p* 1)", ["variable *D-P*"]],
    ["(sb-ext:defglobal **d-g** 1)", ["variable **D-G**"]],
    ["(defconstant +d-c+ 1)", ["constant +D-C+"]],
    ["(define-symbol-macro d-sm 1)", ["symbol-macro D-SM"]],
    ["(defclass d-class () ((slot :accessor d-class-slot)))", ["class D-CLASS"]],
    ["(defstruct d-structure a)", ["structure D-STRUCTURE"]],
    ["(defstruct (d-structure-2 (:conc-name nil)) d-a)", ["structure D-STRUCTURE-2"]],
    ["(define-condition d-condition (error) ())", ["condition D-CONDITION"]],
    ["(deftype d-type () 'list)", ["type D-TYPE"]],
    ["(defgeneric d-g (x))", ["generic-function D-G"]],
    [
      "(defgeneric d-g2 (x)) (defmethod d-g2 ((x integer)) x) (defmethod d-g2 :around ((x (eql 3))) x)",
      ["generic-function D-G2", "method D-G2 (INTEGER)", "method D-G2 :AROUND ((EQL 3))"],
    ],
    ["(defmethod d-g3 ((x string) y) (list x y))", ["generic-function D-G3", "method D-G3 (STRING T)"]],
    [
      "(defmethod print-object ((x condition) stream) (call-next-method))".replace("condition", "d-structure"),
      ["method PRINT-OBJECT (D-STRUCTURE T)"],
    ],
    ["(define-compiler-macro d-f (x) x)", ["compiler-macro D-F"]],
    ["(defsetf d-setf d-set-it)", ["setf-expander D-SETF"]],
    ["(define-setf-expander d-setf-2 (x) x)", ["setf-expander D-SETF-2"]],
    ["(define-method-combination d-combination)", ["method-combination D-COMBINATION"]],
    ['(defpackage "d Package" (:use))', ["package d Package"]],
    ["(defun |Mixed Case| () 1)", ["function |Mixed Case|"]],
  ];
  for (const [code, expected] of KINDS)
    it(`lists the definitions of ${code}`, async () => {
      await image.values(code);
      expect(await listed(image.client)).to.deep.equal(expected);
    });

  it("lists definitions of all kinds, as the cases above are", () => {
    const kinds = KINDS.flatMap(([, expected]) => expected).map((text) => text.split(" ")[0]);
    expect(new Set(kinds)).to.deep.equal(new Set(DEFINITION_KINDS));
  });

  const NOTHING = [
    "(+ 1 2)",
    "(when nil (defun d-never () 1))",
    "(macroexpand '(defun d-never () 1))",
    "'(defun d-never () 1)",
    "(let ((x 1)) (flet ((d-never () x)) (d-never)))",
    "(declaim (inline d-never))",
    "(ignore-errors (eval '(defun)))",
    "(ignore-errors (eval '(defun . 1)))",
    "(ignore-errors (eval '(defvar 1)))",
    "(ignore-errors (eval '(defun car (x) x)))",
    '(ignore-errors (eval \'(defstruct "name")))',
    "(setq d-undeclared 1)",
    "(loop for x in '(1 2) collect x)",
  ];
  for (const code of NOTHING)
    it(`lists nothing for ${code}`, async () => {
      await image.values(`(locally (declare (sb-ext:muffle-conditions warning)) ${code})`);
      expect(await image.client.definitions()).to.deep.equal({ definitions: [], loaded: [] });
    });

  it("returns nothing, and loads nothing, before the first evaluation", async () => {
    expect(await image.client.definitions()).to.deep.equal({ definitions: [], loaded: [] });
    const fresh = await image.connect({ runtime: false });
    expect(await fresh.definitions()).to.deep.equal({ definitions: [], loaded: [] });
  });

  it("lists names with packages and in order, including expansions of the user's macros", async () => {
    await image.values(`(defpackage "D-APP" (:use "CL") (:export "RUN")) (in-package "D-APP")
       (defmacro define-both (name) \`(progn (defvar ,(intern (format nil "*~a*" name)) 1) (defun ,name () 1)))
       (define-both run) (define-both walk)`);
    await image.values("(defun cl-user::d-outside () 1) (in-package :cl-user)");
    const { definitions } = await image.client.definitions();
    expect(definitions.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal([
      "package D-APP",
      "macro D-APP::DEFINE-BOTH",
      "variable D-APP::*RUN*",
      "function D-APP:RUN",
      "variable D-APP::*WALK*",
      "function D-APP::WALK",
      "function COMMON-LISP-USER::D-OUTSIDE",
    ]);
  });

  it("marks definitions that replaced one of this session or of others", async () => {
    const other = await image.connect();
    await values(other, "(defun dr-other () 1) (defvar *dr-other* 1)");
    await image.values("(defun dr-own () 1) (defun dr-once () 1) (defclass dr-class () ())");
    await image.values("(defun dr-own () 2) (defun dr-other () 2) (defvar *dr-other* 2) (defclass dr-class () (a))");
    await image.values("(defmethod dr-g ((x list)) 1) (defmethod dr-g ((x list)) 2) (defmacro dr-once (x) x)");
    expect(await listed(image.client)).to.deep.equal([
      "function DR-OWN redefined",
      "macro DR-ONCE redefined",
      "class DR-CLASS redefined",
      "function DR-OTHER redefined",
      "variable *DR-OTHER* redefined",
      "generic-function DR-G",
      "method DR-G (LIST) redefined",
    ]);
    expect(await listed(other)).to.deep.equal(["function DR-OTHER changed", "variable *DR-OTHER* changed"]);
  });

  it("omits definitions that no longer exist", async () => {
    await image.values(
      "(defun dg-gone () 1) (defun dg-here () 1) (defgeneric dg-g (x)) (defmethod dg-g ((x list)) x) (defvar *dg* 1)",
    );
    await image.values(
      "(fmakunbound 'dg-gone) (remove-method #'dg-g (find-method #'dg-g '() (list (find-class 'list)))) (makunbound '*dg*)",
    );
    expect(await listed(image.client)).to.deep.equal(["function DG-HERE", "generic-function DG-G"]);
    await image.values("(defvar *dg* 2)");
    expect(await listed(image.client)).to.include("variable *DG* redefined");
    await image.values("(defvar *dg-once* 1) (makunbound '*dg-once*) (defvar *dg-unset*)");
    expect(await listed(image.client))
      .to.include("variable *DG-UNSET*")
      .and.not.include("variable *DG-ONCE*");
  });

  it("omits definitions whose names are in no package", async () => {
    await image.values(`(defpackage "DU" (:use "CL"))
       (defun du::gone () 1) (defun (setf du::gone) (x) x) (defvar du::*gone* 1) (defclass du::gone () ())
       (defgeneric du::g (x)) (defmethod du::g ((x list)) x) (defun du::here () 1)`);
    await image.values(`(dolist (name '(du::gone du::*gone* du::g)) (unintern name "DU"))`);
    expect(await listed(image.client)).to.deep.equal(["package DU", "function DU::HERE"]);
    await image.values('(delete-package "DU")');
    expect(await listed(image.client)).to.deep.equal([]);
  });

  it("includes definitions made by calling functions", async () => {
    await image.values("(defun dc-definer () (defvar *dc* 1) (defun dc-inner () 1) (defmacro dc-macro () 1))");
    expect(await listed(image.client)).to.deep.equal(["function DC-DEFINER"]);
    await image.values("(dc-definer)");
    expect((await listed(image.client)).sort()).to.deep.equal([
      "function DC-DEFINER",
      "function DC-INNER",
      "macro DC-MACRO",
      "variable *DC*",
    ]);
  });

  it("includes definitions made before an error, during and after the stop", async () => {
    const evaluation = image.client.evaluate('(defun ds-first () 1) (progn (defvar *ds* 1) (error "stop"))');
    stopped(await evaluation.next());
    const expected = ["function DS-FIRST", "variable *DS*"];
    expect(await listed(image.client)).to.deep.equal(expected);
    await evaluation.abort();
    expect(await listed(image.client)).to.deep.equal(expected);
  });

  it("can be listed by kind", async () => {
    await image.values("(defun dk-f () 1) (defvar *dk* 1) (defmacro dk-m () 1)");
    const { definitions, loaded } = await image.client.definitions({ kind: "variable" });
    expect(definitions.map(({ name }) => name)).to.deep.equal(["COMMON-LISP-USER::*DK*"]);
    expect(loaded).to.deep.equal([]);
  });

  it("omits definitions that a loaded file has replaced", async () => {
    const file = await folder.write("anew.lisp", "(defun df-anew () 2)");
    await image.values("(defun df-anew () 1)");
    await image.values(`(load ${JSON.stringify(file)})`);
    expect(await listed(image.client)).to.deep.equal(["function DF-ANEW changed"]);
  });

  it("preserves the code's own macroexpansion hook, for its session only", async () => {
    expect(
      await image.values(`(defvar *dh-log* '())
         (let ((next *macroexpand-hook*))
           (setf *macroexpand-hook* (lambda (expander form env) (when (eq (first form) 'dh-m) (push form *dh-log*)) (funcall next expander form env))))
         (defmacro dh-m (x) x) (dh-m 1)`),
    ).to.deep.equal(["1"]);
    expect(await image.values("(dh-m 2) *dh-log*")).to.deep.equal(["((DH-M 2) (DH-M 1))"]);
    expect(await listed(image.client)).to.deep.equal(["variable *DH-LOG*", "macro DH-M"]);
    const other = await image.connect();
    expect(await values(other, "(dh-m 3) (setf *macroexpand-hook* 'funcall) (length *dh-log*)")).to.deep.equal(["2"]);
    expect(await image.values("(defun dh-after () 1) (dh-m 4) (length *dh-log*)")).to.deep.equal(["3"]);
    expect(await listed(image.client)).to.include("function DH-AFTER");
  });

  it("adds no frame to a backtrace", async () => {
    const stop = stopped(await image.evaluate('(defmacro db-bad (x) (error "~a" x)) (db-bad 3)'));
    const calls = stop.stop.condition.frames.filter(({ kind }) => kind !== "toplevel").map(({ call }) => call);
    expect(calls[0]).to.match(/^\(\(MACRO-FUNCTION DB-BAD\) \(DB-BAD 3\)/);
    expect(calls.join("\n")).to.not.include("SWANK-CLIENT");
  });
});

describe("SwankClient.definitions: loaded files", () => {
  const image = liveImage();
  const folder = testFolder();
  let client: SwankClient;
  beforeEach(async () => {
    client = await image.connect();
  });

  /** What is loaded, as `kind name times`, with files relative to the folder. */
  async function loaded(): Promise<string[]> {
    const all = await client.definitions();
    return all.loaded.map(({ kind, name, times }) => `${kind} ${name.replace(`${folder.path}/`, "")} ${times}`);
  }

  const text = (name: string) => JSON.stringify(folder.at(name));

  it("lists all loaded source files and named systems, but not their definitions", async () => {
    await folder.write("inner.lisp", "(defun dl-inner () 1) (defvar *dl-inner* 1)");
    await folder.write("outer.lisp", `(defun dl-outer () 1) (load ${text("inner.lisp")}) (defstruct dl-structure a)`);
    await folder.write("plain.lisp", "1");
    await values(
      client,
      `(defun dl-before () 1) (load ${text("outer.lisp")}) (defun dl-after () 1) (require "sb-md5")
       (progn (defun dl-beside () 1) (mapc #'load (list ${text("outer")} ${text("plain.lisp")})))`,
    );
    const { definitions } = await client.definitions();
    expect(definitions.map(({ name }) => name.replace(/^.*:/, ""))).to.deep.equal([
      "DL-BEFORE",
      "DL-AFTER",
      "DL-BESIDE",
    ]);
    expect((await loaded()).filter((line) => !line.includes("/contrib/"))).to.deep.equal([
      "file outer.lisp 2",
      "file inner.lisp 2",
      "system sb-md5 1",
      "file plain.lisp 1",
    ]);
  });

  it("lists the source of a compiled file that is loaded, and no compiled file without its source", async () => {
    await folder.write("kept [1].lisp", "(defun dl-kept () 1)");
    await folder.write("gone.lisp", "(defun dl-gone () 1)");
    await values(client, `(compile-file (sb-ext:parse-native-namestring ${text("kept [1].lisp")})) nil`);
    await values(client, `(compile-file ${text("gone.lisp")}) nil`);
    await rm(folder.at("gone.lisp"));
    expect(await loaded()).to.deep.equal([]);
    await values(
      client,
      `(load (sb-ext:parse-native-namestring ${text("kept [1].fasl")})) (load ${text("gone.fasl")})`,
    );
    expect(await loaded()).to.deep.equal(["file kept [1].lisp 1"]);
  });

  it("lists the files of a system that ASDF loads, compiled anew or not, and omits its definition", async () => {
    await folder.write("dl-system.asd", '(defsystem "dl-system" :components ((:file "part-1") (:file "part-2")))');
    for (const part of ["part-1", "part-2"]) await folder.write(`${part}.lisp`, "(print 1)");
    const load = `(require "asdf")
      (funcall (intern "LOAD-ASD" "ASDF") ${text("dl-system.asd")})
      (funcall (intern "LOAD-SYSTEM" "ASDF") "dl-system")`;
    await values(client, load);
    const files = ["file part-1.lisp 1", "file part-2.lisp 1"];
    expect((await loaded()).slice(-2)).to.deep.equal(files);
    await values(client, `(funcall (intern "LOAD-SYSTEM" "ASDF") "dl-system" :force t)`);
    expect((await loaded()).slice(-2)).to.deep.equal(["file part-1.lisp 2", "file part-2.lisp 2"]);
    expect((await loaded()).join("\n")).to.not.include(".asd");
  });

  it("lists files that a thread of the code loads, and none that fails to be found", async () => {
    await folder.write("threaded.lisp", "1");
    await values(
      client,
      `(sb-thread:join-thread (sb-thread:make-thread (lambda () (load ${text("threaded.lisp")}))))
       (ignore-errors (load ${text("absent.lisp")})) (load (make-string-input-stream "1"))`,
    );
    expect(await loaded()).to.deep.equal(["file threaded.lisp 1"]);
  });

  it("adds no frame of the program to the stack of a loaded file", async () => {
    await folder.write("failing.lisp", '(error "in a file")');
    const { stop } = stopped(await evaluate(client, `(load ${text("failing.lisp")})`));
    const own = stop.condition.frames.filter(({ kind }) => kind !== "system");
    expect(own.map(({ call }) => call).join("\n"))
      .to.match(/^\(LOAD /m)
      .and.not.match(/^\(SWANK-CLIENT\S*LOAD|ENCAPSULATION/m);
  });
});
