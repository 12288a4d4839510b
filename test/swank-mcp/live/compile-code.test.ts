import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

const NOISY = `;;; Größe 𝄞 (
(defpackage :noisy (:use :cl))
(in-package :noisy)

(defun add-text (x)
  (let ((y x))
    (list y (+ 1 "2"))))

(defun unused (x) (missing-function 1))

(defun speedy (x)
  (declare (optimize speed))
  (+ x 1))

(defun broken (x)
  (if))
`;

describe("compile-code", () => {
  const folder = liveFolder("compile code");
  const server = liveServer({
    code: `(setf *default-pathname-defaults* (sb-ext:parse-native-namestring "${folder}/"))`,
  });

  const compile = async (args: object) => blocks(await server.call("compile-code", args)).join("\n\n");

  async function source(name: string, text: string): Promise<string> {
    await writeFile(join(folder, name), text);
    return name;
  }

  it("reports every note of a file with its place and form, the worst first, and loads nothing", async () => {
    const file = await source("noisy.lisp", NOISY);
    const result = await server.call("compile-code", { file, load: true });
    const [head = "", ...notes] = blocks(result).join("\n\n").split("\n\n");
    const own = notes.filter((note) => !/^\S+ NOTE /.test(note));
    expect(own).to.have.length(5);
    expectFacts(
      [head.replace(/\d+ notes/, "<n> notes"), ...own].join("\n\n"),
      "noisy.lisp does not compile: 1 error, 1 warning, 3 style warnings, <n> notes. Nothing was loaded.",
      "noisy.lisp:16:3: ERROR in (DEFUN BROKEN): …between 2 and 3 expected, but got 0\n    (if)",
      'noisy.lisp:7:13: WARNING in (DEFUN ADD-TEXT): Constant "2" conflicts with its asserted type NUMBER.\n    (+ 1 "2")',
      "noisy.lisp:9:1: STYLE-WARNING…noisy.lisp:15:1: STYLE-WARNING",
      "noisy.lisp:9:19: STYLE-WARNING in (DEFUN NOISY::UNUSED): undefined function: NOISY::MISSING-FUNCTION",
    );
    expect(notes.find((note) => note.includes("(DEFUN SPEEDY)"))).to.match(
      /^noisy\.lisp:13:3: NOTE in \(DEFUN SPEEDY\): [\s\S]*\n {4}\(\+ x 1\)$/,
    );
    expect(result.isError).to.equal(true);
    expect(await server.evaluate('(find-symbol "SPEEDY" :noisy) (fboundp (find-symbol "SPEEDY" :noisy))')).to.include(
      "=> NIL",
    );
  });

  it("names the line that lacks a parenthesis", async () => {
    const file = await source("open.lisp", "(defun one (x)\n  (if x 1 2)\n\n(defun two ()\n  3)\n");
    expectFacts(
      await compile({ file }),
      "open.lisp does not compile: 1 error.\n\nopen.lisp:1:1: READ-ERROR: the list that begins here never ends; a closing parenthesis is missing, probably in line 2",
      "\n    line 2: (if x 1 2)",
    );
    expectFacts(
      await compile({ code: "(defun one (x)\n  (list x)))\n" }),
      "The code does not compile: 1 error.\n\n2:12: READ-ERROR: this parenthesis closes nothing",
    );
  });

  it("reports a name that cannot be read, with its form", async () => {
    expectFacts(
      await compile({ code: "(defun one () 1)\n\n(defun two ()\n  (nopkg:run))" }),
      "3:1: READ-ERROR: READ error during COMPILE-FILE: Package NOPKG does not exist.\n  The reader has come to line 4, column 12.\n    (defun two ()",
    );
  });

  it("compiles code in a package, and loads it on request", async () => {
    expect(await compile({ code: "(defun loaded-now (x) (* 2 x))" })).to.equal("The code compiles.");
    expect(await server.evaluate("(fboundp 'loaded-now)")).to.include("=> NIL");
    expect(await compile({ code: "(defun loaded-now (x) (* 2 x))", load: true })).to.equal(
      "The code compiles. It is loaded.",
    );
    expect(await server.evaluate("(loaded-now 4)")).to.include("=> 8");
    expect(blocks(await server.call("show-source", { name: "loaded-now" })).join("\n")).to.include(
      "(defun loaded-now (x) (* 2 x))",
    );
  });

  it("says what ended loading", async () => {
    expectFacts(
      await compile({ code: '(defun kept () 1)\n(error "No ~a" \'luck)', load: true }),
      "The code compiles. Loading it was ended by SIMPLE-ERROR at 2:1; the forms before that are loaded:\nNo LUCK",
    );
    expect(await server.evaluate("(kept)")).to.include("=> 1");
  });

  it("names the place of the form that ended compiling or loading", async () => {
    const loading = "(defun first-of (x) (car x))\n\n(defvar *before* 1)\n(defvar *first* (first-of 5))\n";
    const file = await source("ending.lisp", loading);
    expect(await compile({ file, load: true })).to.match(
      /Loading it was ended by TYPE-ERROR at ending\.lisp:4:1; the forms before that are loaded:\n[\s\S]*\n {4}\(defvar \*first\* \(first-of 5\)\)$/,
    );
    expect(await compile({ code: loading, load: true })).to.include("was ended by TYPE-ERROR at 4:1; the forms");
    const packaged = await source("packaged.lisp", "(defun early () 1)\n\n  (in-package :no-such-package)\n");
    const result = await server.call("compile-code", { file: packaged });
    expect(blocks(result).join("\n\n")).to.match(
      /^The compiler was ended by \S+ at packaged\.lisp:3:3:\n[\s\S]*\n {4}\(in-package :no-such-package\)$/,
    );
    expect(result._meta?.["swank-mcp/compiled"]).to.include({
      status: "failed",
      file: "packaged.lisp",
      line: 3,
      column: 3,
    });
  });

  it("reports an error of a macro as one of its call", async () => {
    await server.evaluate('(defmacro failing (x) (error "Bad macro ~a" x))');
    expectFacts(
      await compile({ code: "(defun f ()\n  (failing 1))" }),
      "2:3: ERROR in (DEFUN F): during macroexpansion of (FAILING 1).…Bad macro 1\n    (failing 1)",
    );
  });

  it("answers bad input", async () => {
    const neither = "compile-code: Give either code or a file.";
    for (const [args, answer] of [
      [{}, neither],
      [{ code: "1", file: "x" }, neither],
      [{ code: " ; nothing" }, "The code contains no form, so nothing was compiled."],
      [{ file: "shape.asd" }, "An .asd file defines systems, which ASDF compiles and loads.\nCall load-system"],
    ] as const)
      expect(await compile(args)).to.include(answer);
  });
});
