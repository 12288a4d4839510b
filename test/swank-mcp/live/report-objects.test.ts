import { expect } from "chai";
import { McpDebugger } from "../../support/mcp-debugger.js";
import { Snapshots } from "../../support/snapshots.js";

const snapshots = new Snapshots(import.meta.url);

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
  let lisp: McpDebugger;
  before(async () => {
    lisp = await McpDebugger.start();
    expect((await lisp.evaluate(PROGRAM))[0]).to.include('=> #<PACKAGE "COMMON-LISP-USER">');
  });
  after(() => lisp.close());
  afterEach(() => lisp.abortAll());

  async function report(code: string): Promise<string> {
    return (await lisp.evaluate(code)).join("\n---\n").replace(/thread \d+\//, "thread N/");
  }

  it("shows a large object once, and then refers to it", async () => {
    snapshots.match("an object in several frames", await report("(run-all *plans*)"));
    snapshots.match("an object in the message", await report("(twice (loop for n from 100 below 140 collect n))"));
  });

  it("shows the dimensions of an array, and the part around the index that the message mentions", async () => {
    const rows =
      "(make-array '(100 4) :initial-contents (loop for row below 100 collect (loop for n below 4 collect (+ (* 10 row) n))))";
    snapshots.match("a row", await report(`(list (cell ${rows} 100 2))`));
    snapshots.match("a column", await report("(list (cell (make-array '(3 200) :initial-element 0) 1 200))"));
    snapshots.match(
      "an element",
      await report("(list (entry (coerce (loop for n below 500 collect n) 'simple-vector) 500))"),
    );
    snapshots.match("no index", await report('(list (cell (make-array 500 :initial-element 7) "one" 2))'));
  });

  it("prints from the package that most frames belong to, and says so, as do the tools that show them again", async () => {
    snapshots.match("another package", await report("(orchard::year)"));
    for (const name of ["describe-last-error", "get-backtrace"]) {
      const result = await lisp.resume(name, name === "get-backtrace" ? { "max-frames": 3 } : {});
      // the frames of Lisp and Swank below the program's
      snapshots.match(`another package, ${name}`, result.join("\n---\n").replace(/\d+ more frames/, "<n> more frames"));
    }
    const frames = await lisp.json("debugger_frames", { end: 3 });
    snapshots.match(
      "another package, debugger_frames",
      JSON.stringify(frames, null, 1)
        .replace(/"thread": "\d+/, '"thread": "N')
        .replace(/"(total_frames|outside_page)": \d+/g, '"$1": "<n>"'),
    );
  });

  it("prints from the package in which the agent works", async () => {
    await lisp.evaluate("(in-package :orchard)");
    snapshots.match("the agent's package", await report("(year)"));
    await lisp.evaluate("(in-package :cl-user)");
  });
});

snapshots.testCompleteness();
