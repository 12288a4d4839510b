import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { markedText } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { Snapshots } from "../../support/snapshots.js";

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
  const snapshots = new Snapshots(import.meta.url);
  let server: McpStdio;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "class info "));
    server = await McpStdio.start();
    await writeFile(join(folder, "figures.lisp"), FIGURES);
    await writeFile(join(folder, "gui.lisp"), GUI);
    await writeFile(join(folder, "figures.asd"), '(defsystem "figures" :components ((:file "figures")))');
    await writeFile(join(folder, "gui.asd"), '(defsystem "gui" :depends-on ("figures") :components ((:file "gui")))');
    await server.evaluate(
      `(require "asdf")
       (dolist (name '("figures" "gui")) (asdf:load-asd (format nil "~a/~a.asd" ${JSON.stringify(folder)} name)))`,
    );
    await server.evaluate('(asdf:load-system "gui")');
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  async function info(name: string, args: object = {}): Promise<string> {
    const result = await server.call("class-info", { package: "figures", ...args, name });
    return `> ${name}\n${markedText(result).replaceAll(folder, "FOLDER")}`;
  }

  async function infos(...names: readonly string[]): Promise<string> {
    return (await Promise.all(names.map((name) => info(name)))).join("\n\n");
  }

  it("describes classes, structures and conditions", async () => {
    snapshots.match("classes", await infos("figure", "square", "point", "bad-figure", "cl:integer"));
  });

  it("names superclasses that are not defined yet", async () => {
    snapshots.match("unfinished", await infos("unfinished", "missing"));
  });

  it("lists the methods of generic functions, and marks those on classes of other systems", async () => {
    snapshots.match("functions", await infos("area", "parts", "side", "(setf side)"));
  });

  it("lists the methods that a call runs, in order", async () => {
    snapshots.match(
      "calls",
      [
        await info("area", { arguments: ["square"] }),
        await info("area", { arguments: [] }),
        await info("area", { arguments: ["1", "2", "3"] }),
        await info("area", { arguments: ["(error)"] }),
      ].join("\n\n"),
    );
  });

  it("says what a name is that is neither, and what is near a name that does not exist", async () => {
    snapshots.match(
      "others",
      [
        await infos("cl:car", "cl:*print-base*", "figrue", "never-interned"),
        await info("area", { package: "figurs" }),
      ].join("\n\n"),
    );
    expect(await server.evaluate('(find-symbol "NEVER-INTERNED" :figures)')).to.deep.equal(["=> NIL\n=> NIL"]);
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

  it("refuses calls without a name, and arguments that are no list", async () => {
    for (const args of [{}, { name: "" }, { name: "area", arguments: { of: "square" } }]) {
      const result = await server.call("class-info", args);
      expect(result.structuredContent, JSON.stringify(args)).to.have.nested.property(
        "error.data.type",
        "INVALID_ARGUMENTS",
      );
    }
  });

  it("refuses arguments for a name that is not a generic function", async () => {
    const result = await server.call("class-info", { name: "figure", package: "figures", arguments: ["1"] });
    expect(result.isError).to.equal(true);
    snapshots.match("arguments for a class", markedText(result));
  });

  snapshots.testCompleteness();
});
