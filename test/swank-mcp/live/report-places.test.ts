import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveDebugger, liveFolder } from "../../support/live-server.js";
import { McpDebugger } from "../../support/mcp-debugger.js";

const PROGRAM = `;;; a program
(defun price (item)
  (let ((cents (getf item :cents)))
    (/ cents
       100)))

(defun total (items rate)
  (let ((sum 0))
    (dolist (item items)
      (incf sum
            (* rate (price item))))
    sum))

(defun bill (items)
  (let ((names (mapcar #'first items))
        (long (make-list 100 :initial-element "a long value")))
    (list names (length long) (total items 2))))
`;

/** A file of about 900 kB whose last function fails. */
const FILLER = `(setf (get 'filler :text) '(list ${"some (text) and more of it ".repeat(65)}))\n`;
const LONG = `${FILLER.repeat(500)}(defun last-one (x)\n  (car x))\n(defun calls-it (x)\n  (list (last-one x)))`;

describe("the report of a stop", () => {
  const folder = liveFolder("report-places");
  const lisp = liveDebugger();
  before(async () => {
    await writeFile(join(folder, "program.lisp"), PROGRAM);
    await lisp.evaluate(`(load "${join(folder, "program.lisp")}")`);
  });

  async function report(code: string): Promise<string> {
    const text = (await lisp.evaluate(code)).join("\n---\n");
    return text.replaceAll(basename(folder), "FOLDER");
  }

  it("names the line that each frame has reached, and shows the locals of the caller if they are short", async () => {
    expectFacts(
      await report("(total '((:cents 250) (:cents nil)) 3)"),
      "[Backtrace]\n1: (PRICE (:CENTS NIL))\n2: (TOTAL ((:CENTS 250) (:CENTS NIL)) 3)\n",
      "Locals of frame 1, (PRICE (:CENTS NIL)):\n  ITEM = (:CENTS NIL)\n  CENTS = NIL\nLocals of frame 2, (TOTAL ((:CENTS 250) (:CENTS NIL)) 3):\n  ITEM = (:CENTS NIL)\n  SUM = 15/2\nSource lines of frames: 1 FOLDER/program.lisp:4, 2 :11",
    );
  });

  it("leaves out the caller's locals if one is long, and lines of code that is in no file", async () => {
    await lisp.evaluate(
      `(defun caller () (let ((long (make-list 50 :initial-element "long"))) (list long (price '()))))`,
    );
    expectFacts(
      await report("(caller)"),
      "1: (PRICE NIL)\n2: (CALLER)\n",
      "Locals of frame 1, (PRICE NIL):\n  ITEM = NIL\n  CENTS = NIL\nSource lines of frames: 1 FOLDER/program.lisp:4",
    );
  });

  it("has the lines as data for programs", async () => {
    const { _meta } = await lisp.call("evaluate-lisp", { code: "(total '((:cents nil)) 3)" });
    expect(_meta).to.have.nested.property("swank-mcp/outcome.error.frames[1].place.line", 4);
  });

  it("names lines at a breakpoint and where nothing stays stopped", async () => {
    await lisp.setBreakpoint({ function: "price" });
    expect(await report("(total '((:cents 1)) 3)")).to.include(
      "Source lines of frames: 0 FOLDER/program.lisp:2, 1 :11",
    );
    await lisp.removeBreakpoints();
    const unwinding = await McpDebugger.start({ args: ["--on-error", "unwind"] });
    const [, aside] = await unwinding.evaluate(`(load "${join(folder, "program.lisp")}") (total '((:cents nil)) 3)`);
    expect(aside).to.match(/^Source lines of frames: 1 report-places .*\/program\.lisp:4, 2 :11$/);
    await unwinding.close();
  });

  it("counts the forms that #. yields, without running code for them", async () => {
    const optimized = "(defparameter *oo* '(optimize speed (space 0) (debug 1) (compilation-speed 0)))";
    const functions = `(defun settings () (incf *runs*) *oo*)
(defun by-variable (x)
  (declare #.*oo*)
  (let ((y (list x)))
    (print y)
    (list (car x) y)))
(defun by-call (x)
  (declare #.(settings))
  (list (car x) x))
`;
    await writeFile(join(folder, "read.lisp"), functions);
    await lisp.evaluate(`(defvar *runs* 0) ${optimized} (load "${join(folder, "read.lisp")}")`);
    expect(await report("(by-variable 1)")).to.match(/Source lines of frames: \d+ FOLDER\/read\.lisp:6\b/);
    const runs = (await lisp.evaluate("*runs*"))[0];
    expect(await report("(by-call 1)")).not.to.include("Source lines");
    expect((await lisp.evaluate("*runs*"))[0]).to.equal(runs);
  });

  it("finds the line in a file of 900 kB", async () => {
    await writeFile(join(folder, "long.lisp"), LONG);
    await lisp.evaluate(`(load "${join(folder, "long.lisp")}")`);
    expect(await report("(calls-it 1)")).to.include("Source lines of frames: 0 FOLDER/long.lisp:502");
  });
});
