import { expect } from "chai";
import type { types } from "swank-client";
import { liveClient } from "./live-image.js";
import { returned, stopped, values } from "./outcomes.js";
import { testFolder } from "./test-folder.js";

const NOTHING: types.ResetReport = { undefined: [], left: [], loaded: [], aborted: 0, stillRunning: 0 };

/** Names as `kind name`, without the package that they share. */
function names(definitions: readonly { readonly kind: string; readonly name: string }[]): string[] {
  return definitions.map(({ kind, name }) => `${kind} ${name.replaceAll("COMMON-LISP-USER::", "")}`);
}

function reasons({ left }: types.ResetReport): string[] {
  return left.map(({ name, reason }) => `${name.replaceAll("COMMON-LISP-USER::", "")}: ${reason}`);
}

describe("SwankClient.reset", () => {
  const image = liveClient();
  const folder = testFolder();

  it("does nothing, and loads nothing, before the first evaluation", async () => {
    expect(await image.client.reset()).to.deep.equal(NOTHING);
    const plain = await image.connect({ runtime: false });
    expect(await plain.reset()).to.deep.equal(NOTHING);
  });

  it("clears history, package and readtable", async () => {
    await image.values('(defpackage "R-APP" (:use "CL")) (in-package "R-APP")');
    await image.values("(set-macro-character #\\! (lambda (stream char) (declare (ignore char)) (read stream)))");
    await image.values("42");
    await image.client.reset();
    const outcome = returned(await image.evaluate("(list * ** *** / + (package-name *package*) 'a!b)"));
    expect(outcome.values).to.deep.equal(['(NIL NIL NIL NIL NIL "COMMON-LISP-USER" A!B)']);
    expect(outcome.package).to.equal("COMMON-LISP-USER");
  });

  it("undefines functions, macros and variables, and keeps other definitions", async () => {
    await image.values(`(defun ru-f () 1) (defun (setf ru-f) (new) new) (defmacro ru-m () 1) (defvar *ru-v* 1 "Documented.") (defparameter *ru-p* 2)
       (sb-ext:defglobal **ru-g** 3) (defgeneric ru-g (x)) (defmethod ru-g ((x list)) x) (defmethod ru-implicit ((x list)) x)
       (setf (fdefinition 'ru-set) (lambda (x) x)) (defclass ru-class () ()) (defstruct ru-structure a) (defconstant +ru+ 1)
       (deftype ru-type () 'list) (defpackage "RU-PACKAGE" (:use))`);
    const report = await image.client.reset();
    expect(names(report.undefined)).to.deep.equal([
      "function RU-F",
      "function (SETF RU-F)",
      "macro RU-M",
      "variable *RU-V*",
      "variable *RU-P*",
      "variable **RU-G**",
      "generic-function RU-G",
      "generic-function RU-IMPLICIT",
      "function RU-SET",
    ]);
    expect(reasons(report)).to.deep.equal([
      "RU-CLASS: kind",
      "RU-STRUCTURE: kind",
      "+RU+: kind",
      "RU-TYPE: kind",
      "RU-PACKAGE: kind",
    ]);
    expect(
      await image.values(`(list (mapcar #'fboundp '(ru-f (setf ru-f) ru-m ru-g ru-implicit ru-set)) (mapcar #'boundp '(*ru-v* *ru-p* **ru-g**))
               (documentation '*ru-v* 'variable) (mapcar (lambda (name) (sb-int:info :variable :kind name)) '(*ru-v* **ru-g**))
               (ru-structure-a (make-ru-structure :a 7)) +ru+ (and (find-class 'ru-class) (find-package "RU-PACKAGE") t))`),
    ).to.deep.equal(["((NIL NIL NIL NIL NIL NIL) (NIL NIL NIL) NIL (:UNKNOWN :UNKNOWN) 7 1 T)"]);
  });

  it("lets undefined names be defined with another kind, and warns about uses while they are undefined", async () => {
    await image.values("(defun rn-f () 1) (defvar *rn-v* 1) (defmacro rn-m () 1) (sb-ext:defglobal **rn-g** 1)");
    await image.client.reset();
    const outcome = returned(await image.evaluate("(defun rn-user () (rn-f) *rn-v*)"));
    expect(outcome.warnings.map(({ message }) => message)).to.have.members([
      "undefined function: COMMON-LISP-USER::RN-F",
      "undefined variable: COMMON-LISP-USER::*RN-V*",
    ]);
    expect(
      await image.values(
        "(defmacro rn-f () 2) (defun rn-m () 3) (define-symbol-macro *rn-v* 4) (defvar **rn-g** 5) (list (rn-f) (rn-m) *rn-v* (let ((**rn-g** 6)) **rn-g**))",
      ),
    ).to.deep.equal(["(2 3 4 6)"]);
  });

  it("keeps definitions that existed before, came from files, or were replaced by others", async () => {
    const file = await folder.write("kept.lisp", "(defun rl-file () 1) (defvar *rl-file* 1)");
    const other = await image.connect();
    await values(other, "(defun rl-before () 1) (defvar *rl-before* 1) (defgeneric rl-others (x)) (setq rl-set 1)");
    await image.values(`(load ${JSON.stringify(file)}) (defun rl-before () 2) (defvar *rl-before* 2) (defvar rl-set 2) (defun rl-later () 1)
       (defun rl-mine () 1) (defgeneric rl-extended (x)) (defmethod rl-others ((x list)) x) (defvar *rl-later* 1)`);
    await values(
      other,
      "(defun rl-later () 2) (defparameter *rl-later* 2) (defmethod rl-extended ((x list)) x) (setf (symbol-value '*rl-before*) 3)",
    );
    const report = await image.client.reset();
    expect(names(report.undefined)).to.deep.equal(["function RL-MINE"]);
    expect(reasons(report)).to.deep.equal([
      "RL-BEFORE: existed",
      "*RL-BEFORE*: existed",
      "RL-SET: existed",
      "RL-LATER: changed",
      "RL-EXTENDED: extended",
      "RL-OTHERS (LIST): kind",
      "*RL-LATER*: changed",
    ]);
    expect(report.loaded).to.deep.equal([{ kind: "file", name: file, times: 1 }]);
    expect(
      await values(
        other,
        "(list (rl-before) *rl-before* rl-set (rl-later) *rl-later* (rl-file) *rl-file* (rl-others '()))",
      ),
    ).to.deep.equal(["(2 3 1 2 2 1 1 NIL)"]);
  });

  it("keeps definitions that a package lock protects", async () => {
    await image.values(
      '(defpackage "RK-LOCKED" (:use "CL")) (defun rk-locked::f () 1) (sb-ext:lock-package "RK-LOCKED")',
    );
    const report = await image.client.reset();
    expect(reasons(report)).to.deep.equal(["RK-LOCKED: kind", "RK-LOCKED::F: locked"]);
    expect(await image.values("(rk-locked::f)")).to.deep.equal(["1"]);
  });

  it("can be repeated, and begins a new list of definitions", async () => {
    await image.values("(defun ri-f () 1) (defclass ri-class () ())");
    await image.client.reset();
    expect(await image.client.definitions()).to.deep.equal({ definitions: [], loaded: [] });
    expect(await image.client.reset()).to.deep.equal({ ...NOTHING, package: "COMMON-LISP-USER" });
    await image.values("(defun ri-f () 2)");
    expect(names((await image.client.reset()).undefined)).to.deep.equal(["function RI-F"]);
  });

  it("ends this client's running and stopped evaluations, and no others", async () => {
    const other = await image.connect();
    const theirs = other.evaluate('(error "theirs")');
    stopped(await theirs.next());
    const running = image.client.evaluate("(loop (sleep 0.01))");
    const stop = image.client.evaluate('(error "mine")');
    const session = stopped(await stop.next()).stop;
    expect(await image.client.reset()).to.include({ aborted: 2, stillRunning: 0 });
    expect((await running.next()).status).to.equal("aborted");
    expect((await stop.next()).status).to.equal("aborted");
    expect(session.isLive).to.equal(false);
    expect(image.client.stops).to.deep.equal([]);
    expect(other.stops).to.have.lengthOf(1);
    await theirs.abort();
  });

  it("reports an evaluation that cannot be ended", async () => {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const stubborn = image.client.evaluate('(sb-sys:without-interrupts (princ "begun") (finish-output) (sleep 5))', {
      onOutput: () => begin(),
    });
    await begun;
    expect(await image.client.reset()).to.include({ aborted: 0, stillRunning: 1 });
    expect((await stubborn.next()).status).to.equal("aborted");
  });

  it("removes this client's breakpoints, and no others", async () => {
    const other = await image.connect();
    await values(other, "(defun rb-f () 1)");
    await image.client.breakpoints.set("rb-f");
    await other.breakpoints.set("rb-f");
    await image.client.reset();
    expect(await image.client.breakpoints.list()).to.deep.equal([]);
    expect(await other.breakpoints.list()).to.have.lengthOf(1);
    expect(await image.values("(rb-f)")).to.deep.equal(["1"]);
  });

  it("removes breakpoints of a client that has evaluated nothing", async () => {
    await values(await image.connect(), "(defun rb-g () 1)");
    await image.client.breakpoints.set("rb-g");
    expect(await image.ask("(cl:eq (cl:symbol-function 'cl-user::rb-g) (cl:fdefinition 'cl-user::rb-g))")).to.equal(
      "NIL",
    );
    await image.client.reset();
    expect(await image.ask("(cl:eq (cl:symbol-function 'cl-user::rb-g) (cl:fdefinition 'cl-user::rb-g))")).to.equal(
      "T",
    );
    expect(await image.client.breakpoints.list()).to.deep.equal([]);
  });

  it("undefines a function that is traced or has a breakpoint, and removes both", async () => {
    await image.values("(defun rt-f () 1) (trace rt-f)");
    await image.client.breakpoints.set("rt-f");
    const stop = image.client.evaluate("(rt-f)");
    stopped(await stop.next());
    const report = await image.client.reset();
    expect(names(report.undefined)).to.deep.equal(["function RT-F"]);
    expect(await image.values("(fboundp 'rt-f)")).to.deep.equal(["NIL"]);
  });
});
