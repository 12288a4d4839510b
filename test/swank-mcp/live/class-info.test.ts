import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { markedText } from "../../support/mcp-results.js";

const FIGURES = `(defpackage :figures (:use :cl))
(in-package :figures)
(defclass named () ((name :initarg :name :initform "none" :type string :reader name-of :writer rename)))
(defclass figure (named)
  ((side :initarg :side :initform (+ 1 2) :type integer :accessor side)
   (count :allocation :class :initform 0)))
(defclass square (figure) ())
(defstruct point (x 0 :type fixnum) (y 1 :read-only t))
(define-condition bad-figure (error) ((figure :initarg :figure :reader bad-figure)))
(defgeneric area (figure &key unit))
(defmethod area ((figure figure) &key unit)
  (declare (ignore unit))
  (side figure))
(defmethod area :around ((figure square) &key unit)
  (declare (ignore unit))
  (call-next-method))
(defgeneric parts (figure) (:method-combination append))
(defclass unfinished (missing) (a))
`;
const GUI = `(defpackage :gui (:use :cl))
(in-package :gui)
(defclass window () ())
(defmethod figures::area ((window window) &key unit) unit)
(defmethod figures::area :before ((figure figures::figure) &key unit)
  (declare (ignore unit)))
`;

describe("class-info", () => {
  const folder = liveFolder("class info");
  const server = liveServer();
  before(async () => {
    await writeFile(join(folder, "figures.lisp"), FIGURES);
    await writeFile(join(folder, "gui.lisp"), GUI);
    await writeFile(join(folder, "figures.asd"), '(defsystem "figures" :components ((:file "figures")))');
    await writeFile(join(folder, "gui.asd"), '(defsystem "gui" :depends-on ("figures") :components ((:file "gui")))');
    await server.evaluate(
      `(require "asdf") (dolist (name '("figures" "gui")) (asdf:load-asd (format nil "~a/~a.asd" ${JSON.stringify(folder)} name)))`,
    );
    await server.evaluate('(asdf:load-system "gui")');
  });

  async function info(name: string, args: object = {}): Promise<string> {
    const result = await server.call("class-info", { package: "figures", ...args, name });
    return `> ${name}\n${markedText(result).replaceAll(folder, "FOLDER")}`;
  }

  async function infos(...names: readonly string[]): Promise<string> {
    return (await Promise.all(names.map((name) => info(name)))).join("\n\n");
  }

  it("describes classes, structures and conditions", async () => {
    expectFacts(
      await infos("figure", "square", "point", "bad-figure", "cl:integer"),
      "class FIGURE\nFOLDER/figures.lisp:4:1: (defclass figure (named)  [system figures]\nPrecedence: FIGURE, NAMED, STANDARD-OBJECT, ",
      "Superclasses: NAMED\nSubclasses: SQUARE\nSlots:\n  SIDE, type INTEGER, initform (+ 1 2), initarg :SIDE, accessor SIDE\n  COUNT, initform 0, shared by all instances\n",
      "reader NAME-OF, writer RENAME, from NAMED\n2 methods on the class:…[system gui; FIGURE is of system figures]",
      "> square…accessor SIDE, from FIGURE…1 method on the class:",
      "structure POINT…  X, type FIXNUM, initform 0, accessor POINT-X\n  Y, initform 1, reader POINT-Y\n",
      "condition BAD-FIGURE…initarg :FIGURE, reader BAD-FIGURE…generic function BAD-FIGURE (CONDITION)",
      "built-in class INTEGER\nno place recorded: INTEGER…No slots\nNo methods on the class (and 2 of Lisp itself)",
    );
  });

  it("names superclasses that are not defined yet", async () => {
    expectFacts(
      await infos("unfinished", "missing"),
      "class UNFINISHED…Not defined yet: MISSING\nSuperclasses: MISSING",
      "class MISSING, metaclass SB-MOP:FORWARD-REFERENCED-CLASS…Subclasses: UNFINISHED",
    );
  });

  it("lists the methods of generic functions, and marks those on classes of other systems", async () => {
    expectFacts(
      await infos("area", "parts", "side", "(setf side)"),
      "generic function AREA (FIGURE &KEY UNIT)…4 methods:…gui.lisp:4:1: …  [system gui]\n…[system gui; FIGURE is of system figures]",
      "Method combination: APPEND…No methods",
      "> side…1 method:…(METHOD SIDE (FIGURE))",
      "generic function (SETF SIDE) (NEW-VALUE OBJECT)",
    );
  });

  it("lists the methods that a call runs, in order", async () => {
    expectFacts(
      [
        await info("area", { arguments: ["square"] }),
        await info("area", { arguments: [] }),
        await info("area", { arguments: ["1", "2", "3"] }),
        await info("area", { arguments: ["(error)"] }),
      ].join("\n\n"),
      "AREA with arguments square runs:\n  1. (METHOD FIGURES::AREA :AROUND (FIGURES::SQUARE))\n  2. (METHOD FIGURES::AREA :BEFORE (FIGURES::FIGURE)), if call-next-method is called\n  3. (METHOD FIGURES::AREA (FIGURES::FIGURE))",
      "AREA has no method for 1 2 3.",
      "unknown: (error) would have to be evaluated.",
    );
  });

  it("says what a name is that is neither", async () => {
    expectFacts(
      await infos("cl:car", "cl:*print-base*", "never-interned"),
      "CAR is neither a class nor a generic function. It is: function, setf expander.",
      "It is: variable.",
      "ERROR Symbol NEVER-INTERNED not found in package FIGURES (status: NIL)",
    );
  });

  it("gives the methods as data", async () => {
    const { _meta } = await server.call("class-info", { name: "window", package: "gui" });
    expect(_meta).to.deep.equal({
      "swank-mcp/class": {
        status: "found",
        name: "WINDOW",
        class: {
          precedence: ["WINDOW", "STANDARD-OBJECT", "SB-PCL::SLOT-OBJECT", "T"],
          methods: [
            {
              name: "(METHOD FIGURES::AREA (WINDOW))",
              file: join(folder, "gui.lisp"),
              line: 4,
              column: 1,
              system: "gui",
            },
          ],
          count: 1,
          lisp_count: 0,
        },
      },
    });
  });

  it("refuses arguments for a name that is not a generic function", async () => {
    expectFacts(
      await info("figure", { arguments: ["1"] }),
      "ERROR class-info: FIGURE is not a generic function, so it takes no arguments.\nCall again",
    );
  });
});
