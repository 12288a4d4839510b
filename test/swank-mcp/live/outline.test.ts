import { mkdtemp, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

const FILES = {
  "shapes.asd": `(asdf:defsystem "shapes" :version "0.3" :description "Shapes and areas."
  :components ((:file "circles" :depends-on ("package")) (:file "package") (:file "elsewhere" :if-feature :no-such-lisp)))`,
  "shapes-plus.asd": `(asdf:defsystem "shapes-plus" :depends-on ("shapes" (:version "shapes" "0.1")) :components ((:file "plus")))
(asdf:defsystem "shapes-plus/tests" :depends-on ("shapes-plus"))`,
  "package.lisp": `(defpackage #:shapes (:use #:cl) (:export #:area #:circle #:*unit*) (:documentation "Shapes."))\n`,
  "circles.lisp": `;;;; Circles: what they are.
(in-package #:shapes)
(defvar *unit* 1)
(defclass circle () ((radius :initarg :radius :reader radius)))
(defgeneric area (shape))
(defmethod area ((shape circle)) (* 3 (radius shape)))
(defun helper (x &key y) (list x y))
`,
  "plus.lisp": `;;; -*- mode: lisp -*-
;;; More shapes.
(defpackage #:shapes-plus (:use #:cl #:shapes))
(in-package #:shapes-plus)
(defclass square () ())
(defmethod area ((shape square)) 4)
(defmethod area :around ((shape circle)) (1+ (call-next-method)))
(defmethod print-object ((shape square) stream) (princ "sq" stream))
(defun shapes::helper (x &key y) (list :new x y))
(defun shapes::extra () 1)
(defgeneric own (shape))
(defmethod own ((shape circle)) 1)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun at-compile-time () 1))
(pushnew :shapes-plus *features*)
`,
  "broken.lisp": `(defun whole () 1)\n\n(defun broken (\n`,
} as const;

describe("outline", () => {
  let server: McpStdio;
  let folder: string;
  const outline = async (args: Record<string, unknown>) => {
    const result = await server.call("outline", args);
    return { ...result, text: blocks(result).join("\n").replaceAll(`${folder}/`, "") };
  };

  before(async function () {
    this.timeout(60_000);
    folder = await mkdtemp(join(tmpdir(), "outline-"));
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
    server = await McpStdio.start();
    await server.evaluate(
      `(progn (require :asdf) (push #p"${folder}/" asdf:*central-registry*) (asdf:load-system "shapes-plus") nil)`,
    );
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it("lists the files of a system in load order, with what they define and what it needs", async () => {
    expect((await outline({ system: "Shapes" })).text).to.equal(
      `system shapes 0.3, loaded, defined in shapes.asd -- Shapes and areas.
2 files, in the order in which they are loaded:
package.lisp, 1 line: 1 defpackage
circles.lisp, 7 lines: 1 defvar, 1 defclass, 1 defgeneric, 1 defmethod, 1 defun -- Circles: what they are.`,
    );
    const { text } = await outline({ system: "shapes-plus" });
    expect(text).to.include('\nDepends on: shapes, (:version "shapes" "0.1")\nBeside it: shapes-plus/tests\n1 file:\n');
    expect(text).to.match(/: 4 defmethod, 2 defun, .*, 2 other forms -- More shapes\.$/);
  });

  it("reads no definition of a system that it depends on, because that is code", async () => {
    await writeFile(join(folder, "unread.asd"), '(defvar cl-user::*was-run* t) (asdf:defsystem "unread")');
    await writeFile(
      join(folder, "needy.asd"),
      '(asdf:defsystem "needy" :depends-on ("unread") :components ((:file "last" :depends-on ("first")) (:file "first")))',
    );
    await server.evaluate(`(asdf:load-asd #p"${folder}/needy.asd")`);
    expect((await outline({ system: "needy", foreign: true })).text).to.match(
      /^system needy, not loaded, [\s\S]*\nDepends on: unread\n2 files, in the order .*\nfirst\.lisp, [\s\S]*\nlast\.lisp, /,
    );
    expect(await server.evaluate("(boundp 'cl-user::*was-run*)")).to.deep.equal(["=> NIL"]);
  });

  it("lists with `foreign` what a system adds to others: methods, names and redefinitions, and not its own", async () => {
    const { text, _meta } = await outline({ system: "shapes-plus", foreign: true });
    expect(text.split("\n").slice(-6).sort()).to.deep.equal([
      "What its loaded code adds to others: 5",
      "plus.lisp:10 function SHAPES::EXTRA, of shapes",
      "plus.lisp:12 (METHOD SHAPES-PLUS::OWN (SHAPES:CIRCLE)), of shapes",
      "plus.lisp:6 (METHOD SHAPES:AREA (SHAPES-PLUS::SQUARE)), of shapes",
      "plus.lisp:7 (METHOD SHAPES:AREA :AROUND (SHAPES:CIRCLE)), of shapes",
      "plus.lisp:9 redefines function SHAPES::HELPER, of shapes",
    ]);
    expect(_meta).to.have.nested.property("swank-mcp/outline.added", 5);
    expect((await outline({ system: "shapes", foreign: true })).text).to.match(
      /\nIts loaded code adds nothing to other systems\.$/,
    );
    expect((await outline({ system: "shapes-plus/tests", foreign: true })).text).to.match(
      /^system shapes-plus\/tests, not loaded, [\s\S]*\nNo source files: ASDF knows none of it\.\nIt is not loaded, so it is not known/,
    );
  });

  it("lists the forms of a file with their lines, and definitions inside forms that are none", async () => {
    expect((await outline({ file: join(folder, "plus.lisp"), start: 9 })).text).to.equal(
      `plus.lisp, 15 lines -- More shapes.
12 (defmethod own ((shape circle)) 1)
13 (eval-when (:compile-toplevel :load-toplevel :execute)
14   (defun at-compile-time () 1))
15 (pushnew :shapes-plus *features*)`,
    );
    expect((await outline({ file: join(folder, "plus.lisp"), limit: 2 })).text).to.match(
      /\n4 \(in-package #:shapes-plus\)\n11 more: pass start: 2\.$/,
    );
  });

  it("says that a file has changed since it was loaded, and where its text cannot be read", async () => {
    expect((await outline({ file: join(folder, "broken.lisp") })).text).to.equal(
      "broken.lisp, 3 lines\n1 (defun whole () 1)\nWhat follows the form at line 1 cannot be read.",
    );
    const file = join(folder, "circles.lisp");
    const { mtime } = await stat(file);
    await writeFile(file, `${FILES["circles.lisp"]}(defun later () 2)\n`);
    // Dates are whole seconds, in which a file can change after it was loaded.
    await utimes(file, mtime, mtime);
    expect((await outline({ file })).text).to.match(
      /\nThe file has changed since it was loaded\.\n[\s\S]*\n8 \(defun later/,
    );
    expect(blocks(await server.call("show-source", { file })).join("\n")).to.include("changed since it was loaded");
  });

  it("lists the names of a package by kind, exported ones first, and with their lambda lists if asked", async () => {
    expect((await outline({ package: "shapes" })).text).to.equal(
      `package SHAPES, defined in package.lisp -- Shapes.
Uses: COMMON-LISP
Used by: SHAPES-PLUS
6 names: 2 functions (0 exported), 2 generic functions (1 exported), 1 class (1 exported), 1 variable (1 exported)
Exported variable: *UNIT*
Exported generic function: AREA
Exported class: CIRCLE
Internal function: EXTRA, HELPER
Internal generic function: RADIUS`,
    );
    expect((await outline({ package: "shapes", arglists: true })).text).to.match(
      /\nInternal function:\n {2}EXTRA \(\)\n {2}HELPER \(X &KEY Y\)\n/,
    );
    expect((await outline({ package: "cl", limit: 1 })).text).to.match(/\n\d+ more: pass start: 1\.$/);
  });

  for (const [args, text] of [
    [{ system: "shape" }, /^ASDF knows no system shape: it has not been loaded\.\nSimilar systems: .*shapes/],
    [{ file: "/tmp/no-such-file.lisp" }, /^The image has no file /],
    [{ package: "shapse" }, /^Package SHAPSE not found\n/],
    [{}, /^outline: Give one of system, file and package\./],
    [{ system: "shapes", package: "shapes" }, /^outline: Give one of /],
    [{ file: "x.lisp", foreign: true }, /^outline: "foreign" belongs to a system\./],
  ] as const)
    it(`refuses ${JSON.stringify(args)}, and says what to do`, async () => {
      const result = await outline(args);
      expect(result.isError).to.equal(true);
      expect(result.text).to.match(text);
    });

  it("is not needed to list a package: apropos-search takes one without a pattern", async () => {
    const text = async (args: Record<string, unknown>) => blocks(await server.call("apropos-search", args))[0];
    expect(await text({ package: "shapes", external: true })).to.match(
      /^3 names of package shapes:\n\nSHAPES:\*UNIT\* variable\n/,
    );
    expect(await text({})).to.match(/^apropos-search: Without a pattern, name a package\./);
  });
});
