import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type ExampleRun, runExample } from "./run-example.js";

const NOTES = `(defpackage #:notes (:use #:cl))
(in-package #:notes)
;; Characters beyond U+FFFF: 😀
(defun f (x) "😀" (+ x undefined-variable))
(defun g (x)
  (f))
(defun h ()
  (list "😀" (missing 1))
  (car 1))
`;

describe("examples/compile-check.mjs", function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "compile-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Compiles texts as files of these names. The output has no path of the folder. */
  async function check(texts: Readonly<Record<string, string>>): Promise<ExampleRun> {
    for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text);
    const files = Object.keys(texts).map((name) => join(folder, name));
    const ran = await runExample("compile-check.mjs", files);
    const withoutFolder = (text: string) => text.replaceAll(/(?:\.\.\/)*\/?[^\s"]*\/compile-\w+\//g, "");
    return { ...ran, stdout: withoutFolder(ran.stdout) };
  }

  it("prints notes in the order of the text, with columns in UTF-16, and fails at warnings", async () => {
    const { code, stdout, stderr } = await check({ "notes.lisp": NOTES });
    expect(stdout.trim().split("\n")).to.deep.equal([
      "notes.lisp:4:19: warning: undefined variable: NOTES::UNDEFINED-VARIABLE",
      "notes.lisp:5:1: style-warning: The variable X is defined but never used.",
      "notes.lisp:6:3: warning: The function F is called with zero arguments, but wants exactly one.",
      "notes.lisp:8:14: style-warning: undefined function: NOTES::MISSING",
      "notes.lisp:9:3: note: deleting unreachable code",
      "notes.lisp:9:3: warning: Constant 1 conflicts with its asserted type LIST.",
      "1 of 1 file failed",
    ]);
    expect(stderr).to.equal("");
    expect(code).to.equal(1);
  });

  it("succeeds for style warnings, and leaves no compiled file", async () => {
    const { code, stdout } = await check({ "style.lisp": "(defun g (x)\n  2)\n" });
    expect(stdout).to.equal(
      "style.lisp:1:1: style-warning: The variable X is defined but never used.\n1 file compiled\n",
    );
    expect(code).to.equal(0);
    expect(await readdir(folder)).to.deep.equal(["style.lisp"]);
  });

  it("loads each file for the files after it", async () => {
    const { code, stdout } = await check({
      "first.lisp": "(defmacro twice (form) `(* 2 ,form))\n",
      "second.lisp": "(defun four () (twice 2))\n",
    });
    expect(stdout).to.equal("2 files compiled\n");
    expect(code).to.equal(0);
  });

  it("prints errors of the reader, of a macro and of loading, and continues with the next file", async () => {
    const { code, stdout } = await check({
      "reader.lisp": "(in-package :cl-user)\n(defun f () (nopkg:foo 1))\n",
      "macro.lisp": '(defmacro boom () (error "boom"))\n(defun use () (boom))\n',
      "loading.lisp": '(error "at load")\n',
    });
    expect(stdout).to.match(/^reader\.lisp:2:\d+: read-error: READ error during COMPILE-FILE: Package NOPKG does not/);
    expect(stdout).to.match(/^macro\.lisp:2:15: error: during macroexpansion of \(BOOM\)\..* boom$/m);
    expect(stdout).to.match(/^loading\.lisp:1:1: error: swank:load-file: at load \[SIMPLE-ERROR\]$/m);
    expect(stdout).to.match(/^3 of 3 files failed$/m);
    expect(code).to.equal(1);
  });

  it("fails at a file that does not exist", async () => {
    const { code, stdout } = await runExample("compile-check.mjs", ["no-such-file.lisp"]);
    expect(stdout).to.match(/^no-such-file\.lisp:1:1: error: .*No such file or directory/);
    expect(code).to.equal(1);
  });
});
