import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveDebugger, liveFolder } from "../../support/live-server.js";
import { McpDebugger } from "../../support/mcp-debugger.js";

const PROGRAM = `
(defstruct plan name steps)
(defun fail-at (plan n) (error "no step ~a in a plan of ~a" n (length (plan-steps plan))))
(defun run-plan (plan) (list (fail-at plan 7)))
(defun run-all (plans) (loop for plan in plans collect (run-plan plan)))
(defparameter *plans* (list (make-plan :name "first" :steps (loop repeat 12 collect "a step with a long name"))))
(defun add-up (numbers) (+ 1 numbers))
(defun twice (numbers) (list (add-up numbers) numbers))
(defun cell (grid row column) (aref grid row column))
(defun entry (entries n) (svref entries n))
(defpackage :orchard (:use :cl))
(in-package :orchard)
(defstruct plum kind)
(defun pick (tree) (error "~s has no fruit, as ~s" tree 'winter))
(defun harvest (trees) (mapcar (lambda (tree) (pick tree)) trees))
(defun season (kind) (list (harvest (list (make-plum :kind kind)))))
(defun year () (list (season 'pear)))
(in-package :cl-user)`;

describe("the report of a stop", () => {
  const lisp = liveDebugger({ code: PROGRAM });

  const report = async (code: string) => (await lisp.evaluate(code)).join("\n---\n");

  it("shows a large object once, and then refers to it", async () => {
    expectFacts(
      await report("(run-all *plans*)"),
      '0: (FAIL-AT #S(PLAN :NAME "first" :STEPS (…) 7)\n1: (RUN-PLAN #<see frame 0>)\n2: (RUN-ALL (#<see frame 0>))\n',
      "Locals of frame 0, …\n  PLAN = #<see frame 0>\n  N = 7",
    );
    expectFacts(
      await report("(twice (loop for n from 100 below 140 collect n))"),
      "The value (100 101 102 …[Backtrace]\n1: (ADD-UP #<see the message>)\n2: (TWICE #<see the message>)\n",
      "Locals of frame 1, (ADD-UP #<see the message>):\n  NUMBERS = #<see the message>",
    );
  });

  it("shows the dimensions of an array, and the part around the index that the message mentions", async () => {
    const rows =
      "(make-array '(100 4) :initial-contents (loop for row below 100 collect (loop for n below 4 collect (+ (* 10 row) n))))";
    expectFacts(
      await report(`(list (cell ${rows} 100 2))`),
      "0: (CELL #<ARRAY 100x4, rows 97 to 99: (970 971 972 973) (980 981 982 983) (990 991 992 993)> 100 2)",
      "  GRID = #<see frame 0>\n  ROW = #<not available>",
    );
    expectFacts(
      await report("(list (cell (make-array '(3 200) :initial-element 0) 1 200))"),
      "0: (CELL #<ARRAY 3x200, rows 0 to 2, columns 0 to 4: (0 0 0 0 0) (0 0 0 0 0) (0 0 0 0 0)> 1 200)",
    );
    expectFacts(
      await report("(list (entry (coerce (loop for n below 500 collect n) 'simple-vector) 500))"),
      "0: (ENTRY #<VECTOR of 500, elements 495 to 499: 495 496 497 498 499> 500)",
      "  ENTRIES = #<VECTOR of 500, elements 495 to 499: 495 496 497 498 499>",
    );
    expectFacts(
      await report('(list (cell (make-array 500 :initial-element 7) "one" 2))'),
      "is not of type (ARRAY * (* *))",
      '0: (CELL #<see the message> "one" 2)',
    );
  });

  it("prints from the package that most frames belong to, and says so, as do the tools that show them again", async () => {
    expectFacts(
      await report("(orchard::year)"),
      "#S(PLUM :KIND PEAR) has no fruit, as WINTER",
      "[Backtrace]\n0: (PICK #S(PLUM :KIND PEAR))\n1: (HARVEST (#S(PLUM :KIND PEAR)))\n2: (SEASON PEAR)\n3: (YEAR)\n",
      "Locals of frame 1, (HARVEST (#S(PLUM :KIND PEAR))):\n  TREE = #S(PLUM :KIND PEAR)\nSymbols are printed from package ORCHARD.",
    );
    const shownAgain = [
      "0: (PICK #S(PLUM :KIND PEAR))",
      "2: (SEASON PEAR)",
      "---\nSymbols are printed from package ORCHARD.",
    ];
    expectFacts((await lisp.resume("describe-last-error")).join("\n---\n"), ...shownAgain);
    expectFacts((await lisp.resume("get-backtrace", { "max-frames": 3 })).join("\n---\n"), ...shownAgain);
    const frames = await lisp.frames({ end: 3 });
    expect(frames).to.include({ printed_from: "ORCHARD" });
    expect(frames.frames.map(({ function: name, call }) => `${name} ${call}`)).to.deep.equal([
      "ORCHARD::PICK (PICK #S(PLUM :KIND PEAR))",
      "ORCHARD::HARVEST (HARVEST (#S(PLUM :KIND PEAR)))",
      "ORCHARD::SEASON (SEASON PEAR)",
    ]);
    expect(frames.frames[0]?.source).to.deep.equal({ form: '(ERROR "~s has no fruit, as ~s" TREE \'WINTER)' });
  });

  it("prints from the package in which the agent works", async () => {
    await lisp.evaluate("(in-package :orchard)");
    expect(await report("(year)"))
      .to.include("0: (PICK #S(PLUM :KIND PEAR))\n")
      .and.not.include("printed from package");
    await lisp.evaluate("(in-package :cl-user)");
  });
});

const FILE_PROGRAM = `;;; a program
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

describe("the report of a stop in a file", () => {
  const folder = liveFolder("report-places");
  const lisp = liveDebugger();
  before(async () => {
    await writeFile(join(folder, "program.lisp"), FILE_PROGRAM);
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
