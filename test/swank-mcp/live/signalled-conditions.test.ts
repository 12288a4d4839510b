import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveDebugger } from "../../support/live-server.js";
import { normalized } from "../../support/normalized.js";

const CODE = `
(defpackage :bill (:use :cl))
(in-package :bill)
(define-condition odd-price (error) ((price :initarg :price))
  (:report (lambda (c stream) (format stream "The price ~s is odd." (slot-value c 'price)))))
(defun parsed (text) (let ((price (parse-integer text))) (if (oddp price) (error 'odd-price :price price) price)))
(defun price (text) (handler-case (parsed text) (odd-price () 0)))
(defun prices (texts) (handler-case (mapcar #'price texts) (error () '())))
(defun total (texts) (reduce #'+ (or (ignore-errors (prices texts)) '(0))))
(defun resumed () (handler-bind ((odd-price (lambda (c) (declare (ignore c)) (invoke-restart 'use 5))))
                    (restart-case (error 'odd-price :price 1) (use (n) n))))
(defun two-types () (handler-case (error 'odd-price :price 3) ((or arithmetic-error odd-price) () :either)))
(defun nested () (handler-case (handler-bind ((odd-price (lambda (c) (declare (ignore c)) (error "nested"))))
                                 (error 'odd-price :price 7))
                   (simple-error () :simple)))
(defun passing (tag) (signal 'odd-price :price tag) :passed)
(defun on-stack () (let ((list (list 1 2))) (declare (dynamic-extent list)) (ignore-errors (+ (the-list list) 1))))
(defun the-list (x) x)
(in-package :cl-user)
:ready`;

describe("evaluate-lisp with conditions", () => {
  const lisp = liveDebugger({ code: CODE });

  /** From 2.5 on, SBCL has no frame of PARSE-INTEGER any more when it fails, and one of each handler. */
  const withOldPlaces = (report: string) =>
    report
      .replaceAll("PARSE-ERROR in BILL::PARSED", "PARSE-ERROR in PARSE-INTEGER, called by BILL::PARSED")
      .replace("(LAMBDA (BILL::C) :IN BILL::NESTED)", "BILL::NESTED");

  /** Returns the answer of an evaluation that reports conditions. */
  async function reported(code: string, conditions: boolean | string = true): Promise<string> {
    return withOldPlaces(normalized((await lisp.evaluate(code, { conditions })).join("\n\n")));
  }

  it("reports where each was signalled and which clause took it, so that a wide handler shows", async () => {
    expectFacts(
      await reported(`(bill::total '("4" "3" "5" "x" "6"))`),
      "Conditions: 3\n  BILL::ODD-PRICE in BILL::PARSED, taken by clause BILL::ODD-PRICE in BILL::PRICE (2 times): The price 3 is odd. | The price 5 is odd.\n  PARSE-ERROR in PARSE-INTEGER, called by BILL::PARSED, taken by clause ERROR in BILL::PRICES: junk in string",
    );
    const result = await lisp.call("evaluate-lisp", { code: '(bill::price "7")', conditions: true });
    expect(result._meta?.["swank-mcp/outcome"]).to.deep.include({
      conditions: [
        {
          type: "BILL::ODD-PRICE",
          messages: ["The price 7 is odd."],
          more_messages: false,
          place: "BILL::PARSED",
          clause: "BILL::ODD-PRICE",
          handler: "BILL::PRICE",
          count: 1,
        },
      ],
    });
  });

  it("reports handlers that invoke a restart, compound types, nested conditions, and those that nobody took", async () => {
    const code = "(list (bill::resumed) (bill::two-types) (bill::nested) (bill::passing 2) (bill::passing 3))";
    expectFacts(
      await reported(code),
      "=> (5 :EITHER :SIMPLE :PASSED :PASSED)\n\nConditions: 6\n",
      "taken by clause BILL::ODD-PRICE in BILL::RESUMED: The price 1",
      "taken by clause (OR ARITHMETIC-ERROR BILL::ODD-PRICE) in BILL::TWO-TYPES",
      "SIMPLE-ERROR in BILL::NESTED, taken by clause SIMPLE-ERROR in BILL::NESTED: nested",
      "BILL::ODD-PRICE in BILL::PASSING, not handled (2 times): The price 2 is odd. | The price 3 is odd.",
    );
    expectFacts(
      await reported(`(handler-case (bill::parsed "1") (error () :odd))`),
      "BILL::ODD-PRICE in BILL::PARSED, taken by clause ERROR at top level: The price 1 is odd.",
    );
  });

  it("reports only conditions of a type, and refuses names of other things", async () => {
    expectFacts(
      await reported(`(bill::total '("3" "x"))`, "bill::odd-price"),
      "Conditions: 1\n  BILL::ODD-PRICE in BILL::PARSED, taken by clause BILL::ODD-PRICE in BILL::PRICE: The price 3 is odd.",
    );
    expect(await reported("(bill::passing 1)", "warning")).to.equal("=> :PASSED\n\nConditions: none");
    const refused = await lisp.call("evaluate-lisp", { code: "1", conditions: "bill::nosuch" });
    expect(JSON.stringify(refused.content)).to.include(
      "conditions: There is no type of conditions named bill::nosuch.",
    );
    expect((await lisp.call("evaluate-lisp", { code: "1", conditions: "#.(setf bill::*x* 1)" })).isError).to.equal(
      true,
    );
  });

  it("counts what Lisp's own functions handle, and reports warnings only as warnings", async () => {
    expect(await reported('(warn "careful")')).to.equal("[warnings]\nWARNING: careful\n\n=> NIL\n\nConditions: none");
    expect(await reported("(compile nil '(lambda () (bill::nosuch)))")).to.match(
      /\nConditions: none\n {2}\(and \d+ that Lisp's own functions handled\)$/,
    );
    expect(await reported("(defun unused (x) 1)"))
      .to.include("STYLE-WARNING")
      .and.to.include("Conditions: none");
  });

  it("reports the conditions of threads that the evaluation starts, and of no others", async () => {
    // one after another, because the report has the message of the first condition
    const threads = `(loop for text in '("1" "1" "3")
      collect (let ((text text)) (sb-thread:join-thread (sb-thread:make-thread (lambda () (bill::price text))))))`;
    expectFacts(
      await reported(threads),
      "Conditions: 3\n  BILL::ODD-PRICE in BILL::PARSED, taken by clause BILL::ODD-PRICE in BILL::PRICE (3 times): The price 1 is odd. | The price 3 is odd.",
    );
    await lisp.evaluate(
      `(defvar *stop* nil) (defvar *other* (sb-thread:make-thread (lambda () (loop until *stop* do (bill::price "1") (sleep 0.01)))))`,
    );
    expect(await reported("(sleep 0.1)")).to.equal("=> NIL\n\nConditions: none");
    await lisp.evaluate("(setf *stop* t) (sb-thread:join-thread *other*)");
  });

  it("reports them at a stop, and the later ones when the evaluation goes on", async () => {
    const [, aside] = await lisp.evaluate(
      `(list (bill::price "1") (restart-case (error "x") (go-on () 2)) (bill::price "3"))`,
      {
        conditions: true,
      },
    );
    expect(aside).to.match(
      /\nConditions: 2\n {2}BILL::ODD-PRICE in BILL::PARSED, taken by clause BILL::ODD-PRICE in BILL::PRICE: The price 1 is odd\.\n {2}SIMPLE-ERROR at top level, not handled: x$/,
    );
    expect(await lisp.resume("debugger_invoke_restart", { restart: "GO-ON" })).to.deep.equal([
      "=> (0 2 0)",
      "Conditions: 1\n  BILL::ODD-PRICE in BILL::PARSED, taken by clause BILL::ODD-PRICE in BILL::PRICE: The price 3 is odd.",
    ]);
  });

  it("reports the different messages of conditions that are otherwise equal, the first three", async () => {
    const prices = (texts: readonly number[]) =>
      reported(`(mapcar #'bill::price '(${texts.map((n) => `"${n}"`).join(" ")}))`);
    expect(await prices([1, 3, 1, 3])).to.match(/ \(4 times\): The price 1 is odd\. \| The price 3 is odd\.$/);
    expect(await prices([1, 3, 5, 7, 7])).to.match(
      / \(5 times\): The price 1 is odd\. \| The price 3 is odd\. \| The price 5 is odd\. \| \.\.\.$/,
    );
    expect(
      await reported('(loop for text in \'("x" "y") do (ignore-errors (error "bad ~a of ~s" text (list 1 text))))'),
    ).to.match(/SIMPLE-ERROR at top level, taken by .* \(2 times\): bad x of \(1 "x"\) \| bad y of \(1 "y"\)$/);
  });

  it("is bounded: many equal conditions are one line, and of many different ones the first are named", async () => {
    const loop = await reported(`(loop repeat 5000 do (bill::price "1"))`);
    expect(loop).to.match(/^ {2}BILL::ODD-PRICE in BILL::PARSED, taken by .* \(5000 times\): The price 1 is odd\.$/m);
    const many = await reported(
      '(dotimes (i 100) (let ((name (intern (format nil "F~d" i)))) (eval `(defun ,name () (ignore-errors (error \'bill::odd-price :price ,i)))) (funcall name)))',
    );
    expect(many)
      .to.match(/\nConditions: 100\n/)
      .and.to.match(/\n {2}\.\.\. 80 others$/);
    expect(many.split("\n").filter((line) => line.startsWith("  BILL::ODD-PRICE in F"))).to.have.lengthOf(20);
  });

  it("shows no message of a condition that may refer to the stack", async () => {
    await lisp.evaluate("(in-package :bill)");
    expect(await reported("(on-stack)"))
      .to.include("TYPE-ERROR")
      .and.not.to.match(/The value/);
    await lisp.evaluate("(in-package :cl-user)");
  });

  it("survives exhaustion of the stack, and an abort", async () => {
    await lisp.evaluate("(defun deep (n) (1+ (deep (1+ n))))");
    expect(await reported("(handler-case (deep 0) (storage-condition () :exhausted))")).to.include("=> :EXHAUSTED");
    const running = lisp.evaluate(`(loop (bill::price "1"))`, { conditions: true, timeout: 0.3 });
    expect((await running)[0]).to.match(/^\[TIMEOUT\]/);
  });

  it("leaves Lisp's functions unchanged", async () => {
    await lisp.abortAll();
    expect(await lisp.evaluate("(sb-impl::encapsulation-info (symbol-function 'sb-kernel::%signal))")).to.deep.equal([
      "=> NIL",
    ]);
    expect(await lisp.evaluate('(bill::price "1")')).to.deep.equal(["=> 0"]);
  });
});
