import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { SwankClient, types } from "swank-client";
import { liveImage } from "./live-image.js";
import { evaluate, returned, stopped, values } from "./outcomes.js";

const NOTHING: types.ResetReport = { undefined: [], left: [], loaded: [], aborted: 0, stillRunning: 0 };

/** Names as `kind name`, without the package that they share. */
function names(definitions: readonly { readonly kind: string; readonly name: string }[]): string[] {
  return definitions.map(({ kind, name }) => `${kind} ${name.replaceAll("COMMON-LISP-USER::", "")}`);
}

function reasons({ left }: types.ResetReport): string[] {
  return left.map(({ name, reason }) => `${name.replaceAll("COMMON-LISP-USER::", "")}: ${reason}`);
}

describe("SwankClient.reset", () => {
  const image = liveImage();
  let client: SwankClient;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "swank-client-reset-"));
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    client = await image.connect();
  });

  it("does nothing, and loads nothing, before the first evaluation", async () => {
    expect(await client.reset()).to.deep.equal(NOTHING);
    const plain = await image.connect({ runtime: false });
    expect(await plain.reset()).to.deep.equal(NOTHING);
  });

  it("clears history, package and readtable", async () => {
    await values(client, '(defpackage "R-APP" (:use "CL")) (in-package "R-APP")');
    await values(client, "(set-macro-character #\\! (lambda (stream char) (declare (ignore char)) (read stream)))");
    await values(client, "42");
    await client.reset();
    const outcome = returned(await evaluate(client, "(list * ** *** / + (package-name *package*) 'a!b)"));
    expect(outcome.values).to.deep.equal(['(NIL NIL NIL NIL NIL "COMMON-LISP-USER" A!B)']);
    expect(outcome.package).to.equal("COMMON-LISP-USER");
  });

  it("undefines functions, macros and variables, and keeps other definitions", async () => {
    await values(
      client,
      `(defun ru-f () 1) (defun (setf ru-f) (new) new) (defmacro ru-m () 1) (defvar *ru-v* 1 "Documented.") (defparameter *ru-p* 2)
       (sb-ext:defglobal **ru-g** 3) (defgeneric ru-g (x)) (defmethod ru-g ((x list)) x) (defmethod ru-implicit ((x list)) x)
       (setf (fdefinition 'ru-set) (lambda (x) x)) (defclass ru-class () ()) (defstruct ru-structure a) (defconstant +ru+ 1)
       (deftype ru-type () 'list) (defpackage "RU-PACKAGE" (:use))`,
    );
    const report = await client.reset();
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
      await values(
        client,
        `(list (mapcar #'fboundp '(ru-f (setf ru-f) ru-m ru-g ru-implicit ru-set)) (mapcar #'boundp '(*ru-v* *ru-p* **ru-g**))
               (documentation '*ru-v* 'variable) (mapcar (lambda (name) (sb-int:info :variable :kind name)) '(*ru-v* **ru-g**))
               (ru-structure-a (make-ru-structure :a 7)) +ru+ (and (find-class 'ru-class) (find-package "RU-PACKAGE") t))`,
      ),
    ).to.deep.equal(["((NIL NIL NIL NIL NIL NIL) (NIL NIL NIL) NIL (:UNKNOWN :UNKNOWN) 7 1 T)"]);
  });

  it("lets undefined names be defined with another kind, and warns about uses while they are undefined", async () => {
    await values(client, "(defun rn-f () 1) (defvar *rn-v* 1) (defmacro rn-m () 1) (sb-ext:defglobal **rn-g** 1)");
    await client.reset();
    const outcome = returned(await evaluate(client, "(defun rn-user () (rn-f) *rn-v*)"));
    expect(outcome.warnings.map(({ message }) => message)).to.have.members([
      "undefined function: COMMON-LISP-USER::RN-F",
      "undefined variable: COMMON-LISP-USER::*RN-V*",
    ]);
    expect(
      await values(
        client,
        "(defmacro rn-f () 2) (defun rn-m () 3) (define-symbol-macro *rn-v* 4) (defvar **rn-g** 5) (list (rn-f) (rn-m) *rn-v* (let ((**rn-g** 6)) **rn-g**))",
      ),
    ).to.deep.equal(["(2 3 4 6)"]);
  });

  it("keeps definitions that existed before, came from files, or were replaced by others", async () => {
    const file = join(folder, "kept.lisp");
    await writeFile(file, "(defun rl-file () 1) (defvar *rl-file* 1)");
    const other = await image.connect();
    await values(other, "(defun rl-before () 1) (defvar *rl-before* 1) (defgeneric rl-others (x)) (setq rl-set 1)");
    await values(
      client,
      `(load ${JSON.stringify(file)}) (defun rl-before () 2) (defvar *rl-before* 2) (defvar rl-set 2) (defun rl-later () 1)
       (defun rl-mine () 1) (defgeneric rl-extended (x)) (defmethod rl-others ((x list)) x) (defvar *rl-later* 1)`,
    );
    await values(
      other,
      "(defun rl-later () 2) (defparameter *rl-later* 2) (defmethod rl-extended ((x list)) x) (setf (symbol-value '*rl-before*) 3)",
    );
    const report = await client.reset();
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
    await values(
      client,
      '(defpackage "RK-LOCKED" (:use "CL")) (defun rk-locked::f () 1) (sb-ext:lock-package "RK-LOCKED")',
    );
    const report = await client.reset();
    expect(reasons(report)).to.deep.equal(["RK-LOCKED: kind", "RK-LOCKED::F: locked"]);
    expect(await values(client, "(rk-locked::f)")).to.deep.equal(["1"]);
  });

  it("can be repeated, and begins a new list of definitions", async () => {
    await values(client, "(defun ri-f () 1) (defclass ri-class () ())");
    await client.reset();
    expect(await client.definitions()).to.deep.equal({ definitions: [], loaded: [] });
    expect(await client.reset()).to.deep.equal({ ...NOTHING, package: "COMMON-LISP-USER" });
    await values(client, "(defun ri-f () 2)");
    expect(names((await client.reset()).undefined)).to.deep.equal(["function RI-F"]);
  });

  it("ends this client's running and stopped evaluations, and no others", async () => {
    const other = await image.connect();
    const theirs = other.evaluate('(error "theirs")');
    stopped(await theirs.next());
    const running = client.evaluate("(loop (sleep 0.01))");
    const stop = client.evaluate('(error "mine")');
    const session = stopped(await stop.next()).stop;
    const report = await client.reset();
    expect(report).to.include({ aborted: 2, stillRunning: 0 });
    expect((await running.next()).status).to.equal("aborted");
    expect((await stop.next()).status).to.equal("aborted");
    expect(session.isLive).to.equal(false);
    expect(client.stops).to.deep.equal([]);
    expect(other.stops).to.have.lengthOf(1);
    await theirs.abort();
  });

  it("reports an evaluation that cannot be ended", async () => {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const stubborn = client.evaluate('(sb-sys:without-interrupts (princ "begun") (finish-output) (sleep 5))', {
      onOutput: () => begin(),
    });
    await begun;
    expect(await client.reset()).to.include({ aborted: 0, stillRunning: 1 });
    expect((await stubborn.next()).status).to.equal("aborted");
  });

  it("removes this client's breakpoints, and no others", async () => {
    const other = await image.connect();
    await values(other, "(defun rb-f () 1)");
    await client.breakpoints.set("rb-f");
    await other.breakpoints.set("rb-f");
    await client.reset();
    expect(await client.breakpoints.list()).to.deep.equal([]);
    expect(await other.breakpoints.list()).to.have.lengthOf(1);
    expect(await values(client, "(rb-f)")).to.deep.equal(["1"]);
  });

  it("removes breakpoints of a client that has evaluated nothing", async () => {
    await values(await image.connect(), "(defun rb-g () 1)");
    await client.breakpoints.set("rb-g");
    expect(await image.ask("(cl:eq (cl:symbol-function 'cl-user::rb-g) (cl:fdefinition 'cl-user::rb-g))")).to.equal(
      "NIL",
    );
    await client.reset();
    expect(await image.ask("(cl:eq (cl:symbol-function 'cl-user::rb-g) (cl:fdefinition 'cl-user::rb-g))")).to.equal(
      "T",
    );
    expect(await client.breakpoints.list()).to.deep.equal([]);
  });

  it("undefines a function that is traced or has a breakpoint, and removes both", async () => {
    await values(client, "(defun rt-f () 1) (trace rt-f)");
    await client.breakpoints.set("rt-f");
    const stop = client.evaluate("(rt-f)");
    stopped(await stop.next());
    const report = await client.reset();
    expect(names(report.undefined)).to.deep.equal(["function RT-F"]);
    expect(await values(client, "(fboundp 'rt-f)")).to.deep.equal(["NIL"]);
  });
});
