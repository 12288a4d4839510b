import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import { blocks, markedText } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { Snapshots } from "../../support/snapshots.js";

const run = promisify(execFile);

const SHAPES = `;;; Shapes. Größe 𝄞 (
(in-package :shapes)

(defvar *scale* 2
  "How much shapes grow.")

(defun grow (side) ; 𝄞
  (* *scale* side))

(progn
  (defun inner (x) x)
  (defmacro twice (form) \`(progn ,form ,form)))

(defclass square () ((side :initarg :side :accessor side)))
(defgeneric area (shape &key unit))
(defmethod area ((shape square) &key unit)
  (declare (ignore unit))
  (expt (side shape) 2))
(defmethod area :around ((shape (eql 'point)) &key unit)
  (list unit))
(defstruct (corner (:conc-name c-)) x y)
(defun (setf scale) (new) (setf *scale* new))
(defmacro define-greeting (name) \`(defun ,name () "hello"))
(define-greeting hello)
`;

/** A time before now, since files are compared by the second in which they were written. */
const EARLIER = new Date(Date.now() - 60_000);

describe("show-source", () => {
  const snapshots = new Snapshots(import.meta.url);
  let server: McpStdio;
  let folder: string;
  let file: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "show source "));
    file = join(folder, "shapes.lisp");
    server = await McpStdio.start();
    await server.evaluate('(defpackage :shapes (:use :cl)) (defpackage "Odd" (:use :cl))');
    await writeSource(SHAPES, EARLIER);
    await server.evaluate(`(load (compile-file ${JSON.stringify(file)}))`);
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  async function writeSource(text: string, time = new Date()): Promise<void> {
    await writeFile(file, text);
    await utimes(file, time, time);
  }

  /** The whole answer, marked if it is an error, with the folder's name replaced. */
  async function shown(args: object): Promise<string> {
    const result = await server.call("show-source", args);
    return markedText(result).replaceAll(folder, "FOLDER");
  }

  async function shownNames(...names: string[]): Promise<string> {
    const texts = await Promise.all(names.map((name) => shown({ name, package: "shapes" })));
    return names.map((name, index) => `> ${name}\n${texts[index]}`).join("\n\n");
  }

  it("shows definitions of every kind from their file, with lines", async () => {
    snapshots.match(
      "definitions",
      await shownNames("grow", "*scale*", "inner", "twice", "square", "hello", "(setf scale)"),
    );
  });

  it("shows a generic function with its methods, and accessors with the form that made them", async () => {
    snapshots.match("methods", await shownNames("area", "side", "c-x", "corner"));
  });

  it("shows one method by its qualifiers and specializers, or lists the methods that there are", async () => {
    snapshots.match(
      "one method",
      await shownNames("(method area (square))", "(METHOD area :around ((eql point)))", "(method area (circle))"),
    );
  });

  it("says why a name has no text, and names what is near it", async () => {
    snapshots.match(
      "no text",
      [
        await shownNames("if", "cl:mapcar", "mapcaar", "shappes:grow", "shapes::unit"),
        await shown({ name: "grow", package: "nowhere" }),
        await shown({ name: "grow", package: "cl-user" }),
      ].join("\n\n"),
    );
  });

  it("shows the comment that ends the last line of a form", async () => {
    const commented = join(folder, "commented.lisp");
    await writeFile(
      commented,
      "(in-package :shapes)\n(progn (defun first-one (x) x) ; of two\n  (defun last-one (x) x)) ; both\n(defun next-one (x)\n  x) (list) ; another\n(defun at-end () 1) ;; end",
    );
    await server.evaluate(`(load ${JSON.stringify(commented)})`);
    snapshots.match("comments", await shownNames("first-one", "last-one", "next-one", "at-end"));
  });

  it("shows evaluated code, and interns nothing", async () => {
    await server.evaluate("(defun shapes::evaluated (x)\n  ;; a comment\n  (list x)) (defstruct evaluated-corner a)");
    const text = await shownNames(
      "evaluated",
      "cl-user::evaluated-corner-a",
      "never-interned",
      "(method area (never))",
    );
    snapshots.match("evaluated", text.replace(/evaluation \d+/g, "evaluation N"));
    expect(
      await server.evaluate('(mapcar (lambda (name) (find-symbol name :shapes)) \'("NEVER-INTERNED" "NEVER"))'),
    ).to.include("=> (NIL NIL)");
  });

  it("says where a file that has changed differs from what was loaded", async () => {
    await writeSource(
      SHAPES.replace("  (* *scale* side))", "  ;; changed\n  (+ *scale* side))").replace("  (defun inner (x) x)\n", ""),
    );
    snapshots.match("changed", await shownNames("grow", "inner", "square", "twice", "*scale*"));
    await writeSource(SHAPES.replace("((side :initarg", "((top) (side :initarg").replace("(expt (side", "(exp (side"));
    snapshots.match("changed otherwise", await shownNames("square", "(method area (square))", "grow"));
    await writeSource(SHAPES, EARLIER);
  });

  it("reads a file again if it has changed without another size or date", async () => {
    await writeSource(SHAPES, EARLIER);
    // what is read of a file is kept if the file was written some seconds ago
    await pause(3500);
    expect(await shownNames("*scale*")).to.include("How much shapes grow.");
    await writeSource(SHAPES.replace("How much shapes", "How many shapes"), EARLIER);
    const texts = blocks(await server.call("show-source", { file, line: 5, context: 0 }));
    expect(texts.join("\n")).to.include("How many shapes grow.");
    expect(await shownNames("*scale*"))
      .to.include("the text that was loaded")
      .and.include("How much shapes grow.");
    await writeSource(SHAPES, EARLIER);
    expect(await shownNames("*scale*"))
      .to.include("as loaded")
      .and.include("How much shapes grow.");
  });

  it("compares functions with the forms that Lisp has recorded, so it sees changes of equal length, even within the same second", async () => {
    const changed = SHAPES.replace("(* *scale* side))", "(+ *scale* side))").replace(
      "(defun inner (x) x)",
      "(defun inner (x) ;\n x)",
    );
    await writeSource(changed);
    const later = await shownNames("grow", "inner", "(setf scale)");
    await writeSource(changed, EARLIER);
    snapshots.match(
      "recorded forms",
      `${later}\n\n# same second\n${await shownNames("grow", "inner", "(setf scale)")}`,
    );
    await writeSource(SHAPES, EARLIER);
  });

  it("shows the form that Lisp has recorded if the file has changed or is gone", async () => {
    const loaded = join(folder, "loaded.lisp");
    await writeFile(
      loaded,
      '(in-package :shapes)\n(defun lone (x)\n  "Lone."\n  (declare (fixnum x))\n  (list x *scale*))\n',
    );
    await server.evaluate(`(load ${JSON.stringify(loaded)})`);
    await rm(loaded);
    snapshots.match("recorded", await shownNames("lone"));
  });

  it("reads files in their encoding", async () => {
    const latin = join(folder, "latin.lisp");
    await writeFile(latin, Buffer.from('(defun cl-user::gr\xfc\xdfe () "\xe4")\n', "latin1"));
    await server.evaluate(`(load ${JSON.stringify(latin)} :external-format :latin-1)`);
    expect(await shown({ name: "grüße" })).to.equal(
      'FOLDER/latin.lisp:1:1 function GRÜßE (as loaded)\n1  (defun cl-user::grüße () "ä")',
    );
  });

  it("shows lines of a file with the definition that they are in", async () => {
    snapshots.match(
      "lines",
      [
        await shown({ file, line: 17, context: 2 }),
        await shown({ file, line: 1, context: 1 }),
        await shown({ file, line: 9999, context: 0 }),
        await shown({ file: join(folder, "shape.lisp") }),
        await shown({ file: "shapes.lisp" }),
        await shown({ file: folder }),
        await shown({ file: "." }),
      ].join("\n\n"),
    );
    expect(await readFile(file, "utf8")).to.equal(SHAPES);
  });

  it("reads no pipes, which block their readers", async () => {
    const pipe = join(folder, "pipe.lisp");
    await run("mkfifo", [pipe]);
    expect(await shown({ file: pipe })).to.match(/^ERROR FOLDER\/pipe\.lisp is a pipe or a device, not a file\.\n/);
  });

  it("keeps names of files with line breaks on one line, as do other tools", async () => {
    const odd = join(folder, "odd\nfile.lisp");
    await writeFile(odd, "(in-package :shapes)\n(defun odd-one () 1)\n(defun odd-two (x) 2)\n");
    await server.evaluate(`(load "${odd}") (defun shapes::odd-one () 3)`);
    const answers = [await shownNames("odd-two"), await shown({ file: odd }), await shown({ file: `${odd}\n` })];
    const calls: readonly [string, object][] = [
      ["compile-code", { file: odd }],
      ["search-source", { folder, pattern: "odd-two" }],
      ["list-changes", { file: odd }],
    ];
    for (const [tool, args] of calls) answers.push(blocks(await server.call(tool, args)).join("\n"));
    snapshots.match("line breaks", answers.join("\n\n").replaceAll(folder, "FOLDER"));
  });

  it("gives the places as data", async () => {
    const { _meta } = await server.call("show-source", { name: "(method area (square))", package: "shapes" });
    expect(_meta).to.deep.equal({
      "swank-mcp/source": {
        status: "found",
        name: "AREA",
        definitions: [{ kind: "method", name: "(METHOD AREA (SQUARE))", state: "loaded", file, line: 16, column: 1 }],
        left_out: 0,
      },
    });
  });

  it("refuses calls with both a name and a file, with neither, and with lines of a name", async () => {
    for (const args of [
      {},
      { name: "car", file },
      { name: "car", line: 3 },
      { file, line: 0 },
      { name: "" },
      { name: " \n" },
    ]) {
      const result = await server.call("show-source", args);
      expect(result.structuredContent, JSON.stringify(args)).to.have.nested.property(
        "error.data.type",
        "INVALID_ARGUMENTS",
      );
    }
  });

  snapshots.testCompleteness();
});
