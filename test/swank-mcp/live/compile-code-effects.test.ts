import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import * as z from "zod";
import { loadLibrary } from "../../support/libraries.js";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

/** The milliseconds that compiling a library may take on a busy machine. */
const COMPILING = 600_000;

const compiled = z.looseObject({
  "swank-mcp/compiled": z.looseObject({
    notes: z.array(
      z.looseObject({ file: z.string(), line: z.number(), column: z.number(), form: z.string(), severity: z.string() }),
    ),
  }),
});

/**
 * What compiling could leave behind: packages, threads that work for a client, temporary folders, and the package of the session. Threads
 * of earlier requests have some seconds to end.
 */
const STATE = `(list (sort (mapcar #'package-name (list-all-packages)) #'string<)
  (loop repeat 500
        for workers = (count "worker" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal)
        while (> workers 1) do (sleep 0.01)
        finally (return workers))
  (directory (concatenate 'string (sb-posix:getenv "TMPDIR") "/swank-client-*/"))
  (package-name *package*)
  (list *compile-file-truename* *load-truename* *readtable*))`;

describe("compile-code, by its effects", () => {
  const folder = liveFolder("compile effects");
  const temporary = liveFolder("temporary");
  const server = liveServer({
    environment: { TMPDIR: temporary },
    code: `(setf *default-pathname-defaults* (sb-ext:parse-native-namestring "${folder}/"))`,
  });

  const compile = async (args: object) => blocks(await server.call("compile-code", args)).join("\n--\n");

  /** The values of code that must return, a line each. */
  async function values(code: string): Promise<string> {
    const [report = ""] = await server.evaluate(code);
    expect(report).to.match(/^=> /);
    return report.replaceAll(/^=> /gm, "");
  }

  it("compiles a whole file of a library with the place of every note, and redefines nothing", async function () {
    this.timeout(COMPILING);
    await server.evaluate(loadLibrary("cl-ppcre"), { timeout: 500 });
    await server.evaluate(
      `(defvar *before* (list #'cl-ppcre:scan #'cl-ppcre::create-scanner (find-class 'cl-ppcre::str)))`,
    );
    for (const name of ["regex-class", "api", "scanner"]) {
      const file = JSON.parse(
        await values(`(namestring (truename (asdf:system-relative-pathname "cl-ppcre" "${name}.lisp")))`),
      );
      const beside = await readdir(join(file, ".."));
      const result = await server.call("compile-code", { file });
      expect(result.isError, JSON.stringify(result)).to.equal(false);
      const { notes } = compiled.parse(result._meta)["swank-mcp/compiled"];
      expect(blocks(result)[0]).to.match(new RegExp(`^${file} compiles`));
      const lines = (await readFile(file, "utf8")).split("\n");
      for (const note of notes) {
        expect(note.file).to.equal(file);
        expect(lines[note.line - 1]?.slice(note.column - 1), JSON.stringify(note)).to.satisfy((text: string) =>
          text.startsWith(note.form),
        );
      }
      expect(await readdir(join(file, ".."))).to.deep.equal(beside);
    }
    expect(
      await values(`(equal *before* (list #'cl-ppcre:scan #'cl-ppcre::create-scanner (find-class 'cl-ppcre::str)))`),
    ).to.equal("T");
    expect(blocks(await server.call("list-changes", { text: false }))[0]).to.not.match(/cl-ppcre/);
  });

  it("leaves no file, package, thread or definition behind if it is not told to load", async () => {
    await writeFile(
      join(folder, "effects.lisp"),
      "(in-package :cl-user)\n(defvar *effect* 1)\n(defun effect () *effect*)\n(defclass effect () ())\n(defmethod affect ((x effect)) x)\n",
    );
    await server.evaluate("(defun effect () :old) (defvar *effect* :old)");
    const before = await values(STATE);
    const code = "(defun effect () :new) (setf *effect* :new) (defgeneric affect (x)) (defun (setf effect) (x) x)";
    expect(await compile({ code })).to.match(/^The code compiles/);
    expect(await compile({ file: "effects.lisp" })).to.match(/^effects\.lisp compiles/);
    expect(await compile({ code: "(defun effect () (if))" })).to.match(/^The code does not compile/);
    expect(await values(STATE)).to.equal(before);
    expect(
      await values("(list (effect) *effect* (fboundp 'affect) (fboundp '(setf effect)) (find-class 'effect nil))"),
    ).to.equal("(:OLD :OLD NIL NIL NIL)");
    expect(await readdir(folder)).to.deep.equal(["effects.lisp"]);
  });

  it("leaves macros as they were, even those that the compiler has defined for later forms", async () => {
    await server.evaluate(
      "(defmacro kept-macro () :old) (defun kept-function () :old) (define-compiler-macro kept-function () :compiled)",
    );
    const code = `(defmacro kept-macro () :new) (defmacro fresh-macro () :new) (defmacro kept-function () :new)
      (define-compiler-macro kept-function () :new) (defun uses-macros () (list (kept-macro) (fresh-macro)))`;
    const state = `(list (macroexpand-1 '(kept-macro)) (macro-function 'fresh-macro) (macro-function 'kept-function)
      (funcall 'kept-function) (funcall (compiler-macro-function 'kept-function) '(kept-function) nil))`;
    await compile({ code });
    expect(await values(state)).to.equal("(:OLD NIL NIL :OLD :COMPILED)");
    await compile({ code: `${code} (if)`, load: true });
    expect(await values(state)).to.equal("(:OLD NIL NIL :OLD :COMPILED)");
    const macros =
      "(defmacro kept-macro () :new) (defmacro fresh-macro () :new) (defun uses () (list (kept-macro) (fresh-macro)))";
    expect(await compile({ code: macros, load: true })).to.equal("The code compiles. It is loaded.");
    expect(await values("(list (macroexpand-1 '(kept-macro)) (macroexpand-1 '(fresh-macro)) (uses))")).to.equal(
      "(:NEW :NEW (:NEW :NEW))",
    );
  });

  it("ends at once when it is cancelled in the middle of a big file, with nothing loaded and the compiler free", async () => {
    const functions = (first: number) =>
      Array.from({ length: 500 }, (_, index) => `(defun big-${first + index} (x) (list x ${index}))`);
    const waits = "(macrolet ((wait () (defvar cl-user::*waits* t) (loop (sleep 0.01)))) (wait))";
    await writeFile(join(folder, "big.lisp"), [...functions(0), waits, ...functions(500)].join("\n"));
    for (const load of [false, true]) {
      await server.evaluate("(makunbound '*waits*)");
      const call = server.startCall("compile-code", { file: "big.lisp", load });
      await server.evaluate("(loop until (boundp '*waits*) do (sleep 0.01))");
      server.cancel(call.id);
      // The compiler's lock is free, and no thread and folder is left, as soon as the thread has been unwound.
      const state = `(list (count "worker" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal)
        (directory (concatenate 'string (sb-posix:getenv "TMPDIR") "/swank-client-*/")))`;
      while ((await values(state)) !== "(1 NIL)");
      expect(await compile({ code: "(defun after-cancel (x) x)" })).to.equal("The code compiles.");
      expect(
        await values("(list (fboundp 'big-0) (fboundp 'big-499) (funcall (compile nil '(lambda () 1))))"),
      ).to.equal("(NIL NIL 1)");
      expect(await readdir(folder)).to.not.include("big.fasl");
    }
    await rm(join(folder, "big.lisp"));
  });

  it("evaluates #. and eval-when while it compiles, and reports what fails there", async () => {
    await server.evaluate("(defvar *read* 0)");
    const code = "(defun constant () '#.(incf *read*)) (eval-when (:compile-toplevel) (incf *read* 10))";
    expect(await compile({ code })).to.equal("The code compiles.");
    expect(await values("(list *read* (fboundp 'constant))")).to.equal("(11 NIL)");
    const failing = await server.call("compile-code", { code: '(list)\n(list #.(error "No ~a" :luck))' });
    expect(failing.isError).to.equal(true);
    expect(blocks(failing)[0])
      .to.match(/^The code does not compile/)
      .and.include("2:")
      .and.include("No LUCK");
    expect(await values("(+ 1 1)")).to.equal("2");
  });

  it("follows in-package in the middle, and leaves the session in its package", async () => {
    await server.evaluate("(defpackage :one (:use :cl)) (defpackage :two (:use :cl))");
    const code = "(defun mine () 1)\n(in-package :two)\n(defun mine () (mine-too))\n(defun mine-too () 2)";
    const result = await compile({ code, package: "one", load: true });
    expect(result).to.equal("The code compiles. It is loaded.");
    expect(
      await values(
        '(list (funcall (find-symbol "MINE" :one)) (funcall (find-symbol "MINE" :two)) (package-name *package*))',
      ),
    ).to.equal('(1 2 "COMMON-LISP-USER")');
  });
});
