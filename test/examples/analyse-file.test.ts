import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../support/facts.js";
import { runExample } from "./run-example.js";

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
    expectFacts(
      stdout,
      "examples/debugging/race.lisp:\n      lines count   chars  definition\n        3-5     3      74  defpackage #:race\n",
      "      15-20     6     179  defun withdraw…  6 definitions in 7 top-level forms\nexamples/debugging/pipeline.lisp:",
      "defmethod run-stage ((stage (eql :convert)) (order order))…  10 definitions in 11 top-level forms",
    );
    expect(code).to.equal(0);
  });

  it("lists definitions inside progn, eval-when and conditionals, and no others", async () => {
    const { code, output } = await analysed(NESTED);
    expectFacts(
      output,
      "4-5     2      57  defmacro twice\n…6-6     1      27  #+sbcl defun lisp-name\n",
      "7-7     1      30  #-(or sbcl ccl) defun lisp-name\n…7-7     1      18  #-(or sbcl ccl) defvar *other*\n",
      "8-10     3     109  defmethod area :around ((shape circle) &key unit)\n  5 definitions in 6 top-level forms",
    );
    expect(code).to.equal(0);
  });

  for (const [text, ...facts] of [
    [
      "(defun first-one () 1)\n(defun f (x)\n  (list x)\n\n(defun g (y) y)\n",
      "(UNCLOSED_LIST at line 2, column 1)\n  (defun f (x)\n  ^\n  By its indentation, line 3 lacks 1 closing parenthesis.",
    ],
    [
      "(defun first-one () 1)\n(defun f (x)\n  (list x)))\n(defun g (y) y)\n",
      "(UNEXPECTED_CLOSE at line 3, column 12)\n    (list x)))\n             ^\n",
    ],
    ['(defun first-one () 1)\n(defvar *x* "abc)\n(defun g (y) y)\n', "(UNCLOSED_STRING at line 2, column 13)"],
    ["(defun first-one () 1)\n(defvar *x* #C(1))\n(defun g (y) y)\n", "(INVALID_LITERAL at line 2, column 13)"],
  ] as const)
    it(`explains what is wrong in ${JSON.stringify(text)}, and lists the definitions before it`, async () => {
      const { code, output } = await analysed(text);
      expectFacts(output, ...facts, "Before the error:…1-1     1      22  defun first-one\n");
      expect(code).to.equal(1);
    });

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
