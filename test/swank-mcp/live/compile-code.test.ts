import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { Snapshots } from "../../support/snapshots.js";

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
  const snapshots = new Snapshots(import.meta.url);
  let server: McpStdio;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "compile code "));
    server = await McpStdio.start();
    await server.evaluate(`(setf *default-pathname-defaults* (sb-ext:parse-native-namestring "${folder}/"))`);
  });

  after(async () => {
    await server.end();
    await rm(folder, { recursive: true });
  });

  async function compile(args: Record<string, unknown>): Promise<string> {
    return blocks(await server.call("compile-code", args)).join("\n\n");
  }

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
    snapshots.match("a noisy file", [head.replace(/\d+ notes/, "<n> notes"), ...own].join("\n\n"));
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
    snapshots.match("an unbalanced file", await compile({ file }));
    snapshots.match("unbalanced code", await compile({ code: "(defun one (x)\n  (list x)))\n" }));
  });

  it("reports a name that cannot be read, with its form", async () => {
    snapshots.match("an unknown package", await compile({ code: "(defun one () 1)\n\n(defun two ()\n  (nopkg:run))" }));
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
    snapshots.match("loading fails", await compile({ code: '(defun kept () 1)\n(error "No ~a" \'luck)', load: true }));
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
    snapshots.match("a failing macro", await compile({ code: "(defun f ()\n  (failing 1))" }));
  });

  it("leaves nothing stopped, and no file", async () => {
    await compile({ code: "(defmacro stopping () (break)) (stopping)" }).catch(() => "");
    const status = await server.evaluate(
      '(directory (concatenate \'string (or (sb-posix:getenv "TMPDIR") "/tmp") "/swank-client-*/"))',
    );
    expect(status).to.include("=> NIL");
  });

  it("answers bad input", async () => {
    await source("shape.lisp", "(list)");
    const calls = [
      { file: "shapes.lisp" },
      { code: "(list)", package: "nopkg" },
      {},
      { code: " ; nothing" },
      { code: "1", file: "x" },
      { file: "shape.asd" },
    ];
    const answers = [];
    for (const args of calls) answers.push(`${JSON.stringify(args)}\n${await compile(args)}`);
    snapshots.match("bad input", answers.join("\n\n"));
  });

  snapshots.testCompleteness();
});
