import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Snapshots } from "../support/snapshots.js";
import { runExample } from "./run-example.js";

const snapshots = new Snapshots(import.meta.url);

const NESTED = `;;; Definitions at several places.
(in-package #:cl-user)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (defmacro twice (form) ; not a function
    \`(* 2 ,form)))
#+sbcl (defun lisp-name () "SBCL")
#-(or sbcl ccl) (progn (defun lisp-name () "another") (defvar *other* t))
(defmethod area :around ((shape circle)
                         &key unit)
  (list unit (call-next-method)))
(format t "(defun no-definition ())")
`;

describe("examples/analyse-file.mjs", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "analyse-"));
  });
  after(() => rm(folder, { recursive: true }));

  /** The output for a file with this text, without the file's folder. */
  async function analysed(text: string): Promise<{ code: number | null; output: string }> {
    const file = join(folder, "file.lisp");
    await writeFile(file, text);
    const { code, stdout, stderr } = await runExample("analyse-file.mjs", [file]);
    return { code, output: `${stdout}${stderr}`.replaceAll(`${folder}/`, "") };
  }

  it("lists the definitions of several files with lines and sizes", async () => {
    const { code, stdout } = await runExample("analyse-file.mjs", [
      "examples/debugging/race.lisp",
      "examples/debugging/pipeline.lisp",
    ]);
    snapshots.match("two files", stdout);
    expect(code).to.equal(0);
  });

  it("lists definitions inside progn, eval-when and conditionals, and no others", async () => {
    const { code, output } = await analysed(NESTED);
    snapshots.match("nested definitions", output);
    expect(code).to.equal(0);
  });

  const broken = {
    "a missing parenthesis": "(defun first-one () 1)\n(defun f (x)\n  (list x)\n\n(defun g (y) y)\n",
    "an extra parenthesis": "(defun first-one () 1)\n(defun f (x)\n  (list x)))\n(defun g (y) y)\n",
    "an open string": '(defun first-one () 1)\n(defvar *x* "abc)\n(defun g (y) y)\n',
    "a wrong literal": "(defun first-one () 1)\n(defvar *x* #C(1))\n(defun g (y) y)\n",
  };
  for (const [name, text] of Object.entries(broken)) {
    it(`explains ${name}, and lists the definitions before it`, async () => {
      const { code, output } = await analysed(text);
      snapshots.match(name, output);
      expect(code).to.equal(1);
    });
  }

  it("continues after a file that it cannot read", async () => {
    const { code, stdout, stderr } = await runExample("analyse-file.mjs", [
      "no-such-file.lisp",
      "examples/debugging/race.lisp",
    ]);
    expect(stderr).to.equal("  ENOENT: no such file or directory, open 'no-such-file.lisp'\n");
    expect(stdout).to.include("defun withdraw");
    expect(code).to.equal(1);
  });
});

snapshots.testCompleteness();
