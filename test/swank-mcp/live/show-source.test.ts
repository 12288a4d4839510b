import { readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks, markedText } from "../../support/mcp-results.js";

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
  const folder = liveFolder("show source");
  const file = join(folder, "shapes.lisp");
  const server = liveServer({ code: '(defpackage :shapes (:use :cl)) (defpackage "Odd" (:use :cl))' });
  before(async () => {
    await writeSource(SHAPES, EARLIER);
    await server.evaluate(`(load (compile-file ${JSON.stringify(file)}))`);
  });

  async function writeSource(text: string, time = new Date()): Promise<void> {
    await writeFile(file, text);
    await utimes(file, time, time);
  }

  const shown = async (args: object) => markedText(await server.call("show-source", args)).replaceAll(folder, "FOLDER");

  async function shownNames(...names: string[]): Promise<string> {
    const texts = await Promise.all(names.map((name) => shown({ name, package: "shapes" })));
    return names.map((name, index) => `> ${name}\n${texts[index]}`).join("\n\n");
  }

  it("shows definitions of every kind from their file, with lines", async () => {
    expectFacts(
      await shownNames("grow", "*scale*", "inner", "twice", "square", "hello", "(setf scale)"),
      "FOLDER/shapes.lisp:7:1 function GROW (as loaded)\n7  (defun grow (side) ; 𝄞\n8    (* *scale* side))\n",
      "shapes.lisp:4:1 variable *SCALE* (as loaded)…shapes.lisp:11:3 function INNER…shapes.lisp:12:3 macro TWICE…class SQUARE",
      "function HELLO (as loaded)\n24  (define-greeting hello)",
      "function (SETF SCALE)",
    );
  });

  it("shows a generic function with its methods, and accessors with the form that made them", async () => {
    expectFacts(
      await shownNames("area", "side", "c-x", "corner"),
      "generic function AREA (as loaded)…(METHOD AREA (SQUARE)) (as loaded)…(METHOD AREA :AROUND ((EQL (QUOTE POINT))))",
      "(METHOD SIDE (SQUARE)) (as loaded)…(METHOD (SETF SIDE) (T SQUARE)) (as loaded): the same form\n\ngeneric function SIDE (made by its methods)",
      "function (SETF C-X) (as loaded): the same form",
      "structure CORNER (as loaded)",
    );
  });

  it("shows one method of each family of a function with many, and says how to see the others", async () => {
    const nodes = Array.from({ length: 12 }, (_, index) => `node-${index}`);
    await server.evaluate(`(defpackage :trees (:use :cl)) (in-package :trees)
      (defclass node () ()) (defgeneric walk (node))
      ${nodes.map((name) => `(defclass ${name} (node) ()) (defmethod walk ((node ${name})) '${name})`).join(" ")}
      (defmethod walk ((node node)) :any-node)
      (defmethod walk :around ((node node-3)) (list (call-next-method)))
      (defmethod walk ((node integer)) :integer) (defmethod walk ((node (eql 7))) :seven) (defmethod walk ((node ratio)) :ratio)
      (defmethod walk (node) :other) (in-package :cl-user)`);
    const all = await shown({ name: "walk", package: "trees" });
    expectFacts(
      all,
      // the method on the superclass stands for those on its subclasses
      "(METHOD WALK (NODE)) (evaluated code…)\n(defmethod walk ((node node)) :any-node)",
      "13 methods are left out, because a related one is shown:\n",
      "12 like (METHOD WALK (NODE)): (METHOD WALK (NODE-0)), (METHOD WALK (NODE-1)),",
      "(METHOD WALK (NODE-7)) and 4 more\n",
      "Ask for one by its name as written here, or for all with the same qualifiers: (method WALK), (method WALK :around).",
    );
    expect(all).to.include("(METHOD WALK (T))").and.include("(METHOD WALK :AROUND (NODE-3))").and.include("(EQL 7)");
    expect(all).to.include("1 like (METHOD WALK (INTEGER)): (METHOD WALK (RATIO))");
    expect(all).to.not.include("(defmethod walk ((node node-5))");
    const asked = await shownNames("(method trees::walk)", "(method trees::walk (trees::node-5))");
    expectFacts(asked, "(defmethod walk ((node node-5)) 'node-5)", "(defmethod walk ((node ratio)) :ratio)");
    expect(asked).to.not.include("left out");
    const { _meta } = await server.call("show-source", { name: "walk", package: "trees" });
    expect(_meta?.["swank-mcp/source"]).to.have.nested.property("families[0].count", 12);
    // Lisp's functions have methods for hundreds of unrelated classes
    const printed = await shown({ name: "print-object" });
    expect(printed).to.match(/^\d+ methods are left out, because a related one is shown:$/m);
    expect(printed.length).to.be.lessThan(30_000);
  });

  it("shows one method by its qualifiers and specializers, or lists the methods that there are", async () => {
    expectFacts(
      await shownNames("(method area (square))", "(METHOD area :around ((eql point)))", "(method area (circle))"),
      "shapes.lisp:16:1 (METHOD AREA (SQUARE)) (as loaded)…shapes.lisp:19:1 (METHOD AREA :AROUND",
      "ERROR AREA has no method (method area (circle)). Its methods:…(METHOD AREA (SQUARE))…(METHOD AREA :AROUND…Name one of these.",
    );
  });

  it("says why a name has no text, and names what is near it", async () => {
    const texts = await shownNames("if", "cl:mapcar", "shapes::unit");
    expectFacts(
      `${texts}\n${await shown({ name: "grow", package: "cl-user" })}`,
      "special operator IF (Lisp has not recorded where it came from)",
      "LIST.LISP function MAPCAR (the image cannot read the file)",
      "ERROR UNIT has no definition.",
      "In other packages: SHAPES::GROW",
    );
  });

  it("shows the comment that ends the last line of a form", async () => {
    const commented = join(folder, "commented.lisp");
    await writeFile(
      commented,
      "(in-package :shapes)\n(progn (defun first-one (x) x) ; of two\n  (defun last-one (x) x)) ; both\n(defun next-one (x)\n  x) (list) ; another\n(defun at-end () 1) ;; end",
    );
    await server.evaluate(`(load ${JSON.stringify(commented)})`);
    expectFacts(
      await shownNames("first-one", "last-one", "next-one", "at-end"),
      "commented.lisp:2:8 function FIRST-ONE (as loaded)\n2  (defun first-one (x) x) ; of two\n",
      "\n3  (defun last-one (x) x)\n",
      "\n4  (defun next-one (x)\n5    x)\n",
      "\n6  (defun at-end () 1) ;; end",
    );
  });

  it("shows evaluated code, and interns nothing", async () => {
    await server.evaluate("(defun shapes::evaluated (x)\n  ;; a comment\n  (list x)) (defstruct evaluated-corner a)");
    const text = await shownNames(
      "evaluated",
      "cl-user::evaluated-corner-a",
      "never-interned",
      "(method area (never))",
    );
    expectFacts(
      text.replace(/evaluation \d+/g, "evaluation N"),
      "function EVALUATED (evaluated code, evaluation N)\n(defun shapes::evaluated (x)\n  ;; a comment\n  (list x))",
      "(defstruct evaluated-corner a)\n\nfunction (SETF COMMON-LISP-USER::EVALUATED-CORNER-A) (evaluated code, evaluation N): the same form",
      "ERROR Symbol NEVER-INTERNED not found…AREA has no method (method area (never)).",
    );
    expect(
      await server.evaluate('(mapcar (lambda (name) (find-symbol name :shapes)) \'("NEVER-INTERNED" "NEVER"))'),
    ).to.include("=> (NIL NIL)");
  });

  it("says where a file that has changed differs from what was loaded", async () => {
    await writeSource(
      SHAPES.replace("  (* *scale* side))", "  ;; changed\n  (+ *scale* side))").replace("  (defun inner (x) x)\n", ""),
    );
    expectFacts(
      await shownNames("grow", "inner", "square", "twice", "*scale*"),
      "function GROW (the text that was loaded; the file has changed since)\n(defun grow (side) ; 𝄞\n  (* *scale* side))",
      "shapes.lisp function INNER (the text that was loaded; the file has changed since)\n",
      "class SQUARE (the file has changed since it was loaded, but not this form, apart from comments and layout)\n14  (defclass",
      "12:3 macro TWICE (the file has changed since it was loaded, but not this form, apart from comments and layout)\n",
      "variable *SCALE* (the file has changed since it was loaded, but not this form, apart from comments and layout)\n",
    );
    await writeSource(SHAPES.replace("((side :initarg", "((top) (side :initarg").replace("(expt (side", "(exp (side"));
    expectFacts(
      await shownNames("square", "(method area (square))", "grow"),
      "class SQUARE (the text that was loaded; the file has changed since)\n",
      "(METHOD AREA (SQUARE)) (the text that was loaded; the file has changed since)\n",
      "function GROW (the file has changed since it was loaded, but not this form, apart from comments and layout)\n",
    );
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
    expectFacts(
      `${later}\n\n# same second\n${await shownNames("grow", "inner", "(setf scale)")}`,
      "function GROW (the text that was loaded; the file has changed since)\n…function INNER (the text that was loaded; the file has changed since)\n…23:1 function (SETF SCALE) (the file has changed since it was loaded, but not this form, apart from comments and layout)\n",
      "# same second",
      "function GROW (the text that was loaded; the file has changed since)\n…function INNER (the text that was loaded; the file has changed since)\n…23:1 function (SETF SCALE) (the file has changed since it was loaded, but not this form, apart from comments and layout)\n",
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
    expectFacts(
      await shownNames("lone"),
      "function LONE (the form that Lisp recorded; the file has changed or cannot be read)\n",
      '(defun lone (x) "Lone." (declare (fixnum x)) (list x *scale*))',
    );
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
    expectFacts(
      [
        await shown({ file, line: 17, context: 2 }),
        await shown({ file, line: 1, context: 1 }),
        await shown({ file, line: 9999, context: 0 }),
        await shown({ file: "shapes.lisp" }),
      ].join("\n\n"),
      "lines 15-19 of 24, in (defmethod area ((shape square) &key unit) (line 16)\n 15  (defgeneric",
      "\n>17    (declare (ignore unit))\n",
      "lines 1-2 of 24\n>1  ;;; Shapes.",
      "lines 24-24 of 24; there is no line 9999, so these are the last, in (define-greeting hello)",
      "ERROR The image has no file shapes.lisp\n--\nSimilar files: FOLDER/shapes.lisp",
    );
    expect(await readFile(file, "utf8")).to.equal(SHAPES);
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
    expectFacts(
      answers.join("\n\n").replaceAll(folder, "FOLDER"),
      "FOLDER/odd file.lisp:3:1 function ODD-TWO",
      "FOLDER/odd file.lisp: lines 1-3 of 3",
      "Similar files: FOLDER/odd file.lisp\n",
      "FOLDER/odd file.lisp compiles: 1 style warning.",
      "FOLDER/odd file.lisp:3:8: (defun odd-two",
      "ODD-ONE FOLDER/odd file.lisp:2:1",
    );
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
});
