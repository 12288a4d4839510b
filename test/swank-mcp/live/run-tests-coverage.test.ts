import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { expect } from "chai";
import type { McpStdio } from "../../support/mcp-stdio.js";
import { TestedSystems, testsText } from "../../support/tested-systems.js";

/** A system of two files, whose tests do not run all of it, and one in which a test stops. */
const FILES = {
  "shop.asd": `
(defsystem "shop"
  :serial t
  :components ((:file "prices") (:file "orders"))
  :in-order-to ((test-op (test-op "shop/tests"))))
(defsystem "shop/tests"
  :depends-on ("shop" "fiveam")
  :components ((:file "shop-tests"))
  :perform (test-op (o c) (unless (symbol-call :fiveam :run! (find-symbol* :all :shop-tests)) (error "Tests of shop failed."))))
(defsystem "shop/stopping"
  :depends-on ("shop")
  :components ((:file "stopping"))
  :perform (test-op (o c) (symbol-call :shop :stop)))
(defsystem "shop/all" :depends-on ("shop"))
(defsystem "stock" :components ((:file "stock")) :in-order-to ((test-op (test-op "stock/tests"))))
(defsystem "stock/tests"
  :depends-on ("stock")
  :components ((:file "stock-tests"))
  :perform (test-op (o c) (unless (symbol-call :stock-tests :run) (error "The kind of the tests is missing."))))
`,
  "prices.lisp": `(defpackage :shop (:use :cl))
(in-package :shop)

(defvar *rates* (list 1 2) "Kept when this is loaded again.")

(declaim (inline doubled))
(defun doubled (price)
  (* 2 price))

(defun sign (price)
  (if (minusp price)
      :refund
      :price))

(defun rate (kind)
  ;; the branches of a conditional form
  (cond ((eq kind :low)
         (first *rates*))
        #+no-such-feature ((null kind) 0)
        ((eq kind :high)
         (doubled (second *rates*)))
        (t
         ;; an error
         (error "No rate: ~a"
                kind))))

(defmacro twice (form)
  \`(+ ,form ,form))
`,
  "orders.lisp": `(in-package :shop)

(defun total (prices)
  (when (null prices) (return-from total 0))
  (twice (reduce #'+ prices)))
`,
  "shop-tests.lisp": `(defpackage :shop-tests (:use :cl :fiveam) (:import-from :sb-ext :gc))
(in-package :shop-tests)
(def-suite all)
(in-suite all)
(test signs (gc :full t) (is (eq :price (shop::sign 3))))
(test rates (is (= 4 (shop::rate :high))))
(test totals (is (= 7 (shop::total '(1 2)))))
`,
  "stock.lisp": `(defpackage :stock (:use :cl))
(in-package :stock)
(defparameter *kinds* (make-hash-table))
(defparameter *limit* 10)
(defvar *runs* 0)
`,
  "stock-tests.lisp": `(defpackage :stock-tests (:use :cl))
(in-package :stock-tests)
(setf (gethash :test stock::*kinds*) t)
(defun run () (incf stock::*runs*) (gethash :test stock::*kinds*))
`,
  "stopping.lisp": `(in-package :shop)
(defvar *endless* nil)
(defun stop ()
  (total '(1))
  (if *endless* (loop (sleep 0.01)) (break "Stopped in a test")))
`,
} as const;

/** What a run with coverage must not change: the policy, sb-cover's record, ASDF's dates, and what the functions are compiled from. */
const STATE = `(list sb-c::*policy*
  (loop for name being the hash-keys of (car sb-c:*code-coverage-info*) collect name)
  (length (cdr sb-c:*code-coverage-info*))
  asdf:*central-registry* asdf::*output-translations*
  (loop for component in (asdf:required-components "shop")
        collect (asdf::component-operation-time (asdf:make-operation 'asdf:compile-op) component)
        collect (asdf::component-operation-time (asdf:make-operation 'asdf:load-op) component))
  (progn (shop::sign 1) (shop::rate :low) (shop::total '())
    (mapcar #'sb-cover:get-coverage (list #'shop::sign #'shop::rate #'shop::total))))`;

/** The record of a file in the format of LCOV, from the lines that ran and those that did not. */
function lcov(file: string, ran: readonly number[], missed: readonly number[]): string {
  const lines = [...ran.map((line) => [line, 1] as const), ...missed.map((line) => [line, 0] as const)];
  const hits = lines.sort(([one], [other]) => one - other).map(([line, count]) => `DA:${line},${count}`);
  return [`SF:${file}`, ...hits, `LF:${lines.length}`, `LH:${ran.length}`, "end_of_record", ""].join("\n");
}

describe("run-tests with coverage", () => {
  let systems: TestedSystems;
  let server: McpStdio;

  before(async () => {
    systems = await TestedSystems.create(FILES);
    server = await systems.start();
    await server.evaluate("(require :sb-cover)");
  });

  after(async () => {
    await server.end();
    await systems.remove();
  });

  const covered = (name: string, args: Record<string, unknown> = {}) =>
    server.call("run-tests", { name, coverage: true, ...args });

  /** The state of the image, and the dates and contents of ASDF's compiled files. */
  async function state(): Promise<unknown> {
    const [names = ""] = await server.evaluate(
      `(format nil "~{~a~^|~}" (mapcar (lambda (component) (namestring (first (asdf:output-files 'asdf:compile-op component))))
         (remove-if-not (lambda (component) (typep component 'asdf:cl-source-file)) (asdf:required-components "shop" :other-systems nil))))`,
    );
    const files = names.replace(/^=> "|"$/g, "").split("|");
    const facts = await Promise.all(
      files.map(async (file) => [
        file,
        (await stat(file)).mtimeMs,
        createHash("sha256")
          .update(await readFile(file))
          .digest("hex"),
      ]),
    );
    return { facts, image: await server.evaluate(STATE) };
  }

  it("says of each file which lines did not run, the least covered first, and writes an LCOV file", async () => {
    await server.call("load-system", { system: "shop" });
    const before = await state();
    expect(JSON.stringify(before)).to.include("(NIL NIL NIL)");
    const result = await covered("shop");
    const [report = "", coverage = ""] = testsText(result).split("\n\nCoverage: ");
    expect(report).to.match(
      /^System shop: 2 passed, 1 failed, 0 skipped in <seconds> \(FiveAM\)\.\n\nshop-tests\.lisp:7:1: SHOP-TESTS::TOTALS failed/,
    );
    expect(coverage.replace(/LCOV: \S+/, "LCOV: <file>")).to.equal(
      [
        "80% (25 of 31 expressions)",
        "  prices.lisp 78% (18 of 23 expressions); did not run: 12, 18, 24-25",
        "  orders.lisp 87% (7 of 8 expressions); ran in part: 4",
        "LCOV: <file>",
      ].join("\n"),
    );
    expect(await state()).to.deep.equal(before);
    expect(testsText(await server.call("list-changes", {}))).to.match(/^Image and files agree\./);
    const file = /LCOV: (\S+)/.exec(coverage)?.[1] ?? expect.fail("The answer names the file.");
    expect((await readFile(file, "utf8")).replaceAll(`SF:${systems.folder}/`, "SF:")).to.equal(
      [
        lcov("prices.lisp", [4, 6, 7, 10, 11, 13, 15, 17, 20, 21, 27], [12, 18, 24, 25]),
        lcov("orders.lisp", [3, 4, 5], []),
      ].join(""),
    );
    expect(result._meta?.["swank-mcp/tests"]).to.deep.nested.include({
      "coverage.files[0].missed": [
        { first: 12, last: 12 },
        { first: 18, last: 18 },
        { first: 24, last: 25 },
      ],
      "coverage.lcov": file,
      "coverage.unrestored": [],
    });
  });

  it("loads the files as before when a stopped test is aborted, and says until then that they are not", async () => {
    await server.call("load-system", { system: "shop/stopping" });
    const before = await state();
    const plain =
      "(let ((code (sb-cover:get-coverage #'shop::stop))) (list code (length (cdr sb-c:*code-coverage-info*))))";
    expect(await server.evaluate(plain)).to.deep.equal(["=> (NIL 0)"]);
    const stopped = testsText(await covered("shop/stopping"));
    expect(stopped).to.match(
      /^The system's files stay compiled for coverage until this run ends; [\s\S]*Stopped in a test/,
    );
    expect(await server.evaluate(plain)).not.to.deep.equal(["=> (NIL 0)"]);
    expect(testsText(await covered("shop"))).to.equal(
      "No test was run: another thread runs tests with coverage, or has stopped in one.",
    );
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
    expect(await server.evaluate(plain)).to.deep.equal(["=> (NIL 0)"]);
    expect(await state()).to.deep.equal(before);
  });

  it("reports coverage when a stopped test goes on, and loads the files as before when its time is up", async () => {
    const before = await state();
    await covered("shop/stopping");
    const ended = testsText(await server.call("debugger_invoke_restart", { restart: "CONTINUE" }));
    expect(ended).to.match(/\n\nCoverage: \d+% .*\n {2}stopping\.lisp \d+% .*; ran in part: 5\nLCOV: /);
    await server.evaluate("(setf shop::*endless* t)");
    const late = testsText(await covered("shop/stopping", { timeout: 1 }));
    expect(late).to.match(/^The system's files stay compiled for coverage[\s\S]*\[TIMEOUT\]/);
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
    expect(await state()).to.deep.equal(before);
  });

  it("gives variables the values that they had before, and names them if a test fails", async () => {
    await server.call("load-system", { system: "stock", test: true });
    await server.evaluate("(progn (setf stock::*limit* 20) (setf (gethash :mine stock::*kinds*) 1))");
    const text = testsText(await covered("stock"));
    expect(text)
      .to.include("The kind of the tests is missing.")
      .and.match(/these variables had the values of their definitions, [^:]*: [^.]*STOCK::\*KINDS\*/);
    expect(text).to.include("STOCK::*LIMIT*").and.not.include("STOCK::*RUNS*");
    const kinds = "(mapcar (lambda (kind) (gethash kind stock::*kinds*)) '(:test :mine))";
    expect(await server.evaluate(`(list stock::*limit* stock::*runs* ${kinds})`)).to.deep.equal(["=> (20 1 (T 1))"]);
  });

  it("refuses what is no system, and a system whose files would replace definitions that are not saved", async () => {
    await server.call("run-tests", { name: "shop" });
    const other = await covered("shop-tests::all");
    expect(other.isError).to.equal(true);
    expect(testsText(other)).to.equal("coverage needs the name of a system.");
    expect(testsText(await covered("shoop"))).to.match(/^coverage needs the name of a system\. Similar: shop/);
    expect(testsText(await covered("shop/all"))).to.equal(
      "No test was run: ASDF compiles no file of this system. Name the system whose lines are to be counted.",
    );
    await server.call("evaluate-lisp", { code: "(defun sign (price) (signum price))", package: "shop" });
    expect(testsText(await covered("shop"))).to.equal(
      "No test was run: coverage loads the system's files, which would replace definitions that are not saved in them: SHOP::SIGN. Save them by save-changes, or load the files by load-system with force.",
    );
    expect(await server.evaluate("(shop::sign -3)")).to.deep.equal(["=> -1"]);
  });
});
