import { expect } from "chai";
import { liveDebugger } from "../../support/live-server.js";
import { stopName } from "../../support/mcp-debugger.js";
import { blocks } from "../../support/mcp-results.js";

/** Fails deep inside a loop: one of the prices is not a number. */
const SHOP = `
(defpackage :shop (:use :cl))
(in-package :shop)
(defun price (item) (getf item :price))
(defun discount (item rate) (* (price item) rate))
(defun total (items rate)
  (let ((sum 0))
    (dolist (item items sum)
      (incf sum (discount item rate)))))
(in-package :cl-user)
:ready`;

const FAILING = '(shop::total \'((:name a :price 10) (:name b :price "20") (:name c :price 30)) 2)';

describe("debugger tools: find, fix and continue", () => {
  const lisp = liveDebugger({ code: SHOP });

  it("show the failing call, its callers and their variables, and evaluate code in their frames", async () => {
    const [report] = await lisp.evaluate(FAILING);
    expect(report).to.match(/^\[ERROR\] TYPE-ERROR\n/);
    const discount = await lisp.frame("(SHOP::DISCOUNT");
    expect((await lisp.locals("(SHOP::DISCOUNT")).map(({ name, value }) => `${name}=${value}`)).to.include.members([
      "RATE=2",
      'ITEM=(:NAME B :PRICE "20")',
    ]);
    const total = await lisp.frame("(SHOP::TOTAL");
    expect(total.index).to.be.above(discount.index);
    expect(await lisp.valuesInFrame(total.index, "(values sum (length items))")).to.deep.equal(["20", "3"]);
    expect(await lisp.valuesInFrame(discount.index, "(parse-integer (price item))")).to.deep.equal(["20", "2"]);
  });

  it("return the original call's value after the function is redefined and the form retried", async () => {
    const stop = stopName(await lisp.evaluate(FAILING));
    const redefined = `(defun shop::price (item) (let ((p (getf item :price))) (if (stringp p) (parse-integer p) p)))`;
    expect((await lisp.evaluate(redefined))[0]).to.include("=> SHOP::PRICE");
    expect(await lisp.stops()).to.deep.equal([stop]);
    expect(await lisp.resume("debugger_invoke_restart", { restart: "RETRY", thread: stop })).to.deep.equal(["=> 120"]);
    expect(await lisp.stops()).to.deep.equal([]);
    await lisp.evaluate("(defun shop::price (item) (getf item :price))");
  });

  it("restart a frame without losing the loop's earlier results", async () => {
    const stop = stopName(await lisp.evaluate(FAILING));
    const total = await lisp.frame("(SHOP::TOTAL");
    const discount = await lisp.frame("(SHOP::DISCOUNT");
    // A restarted loop would lose this value.
    await lisp.valuesInFrame(total.index, "(setq sum 1000)");
    await lisp.evaluate(
      "(defun shop::discount (item rate) (if (numberp (shop::price item)) (* (shop::price item) rate) 0))",
    );
    const args = { restart: "RESTART-FRAME", values: [String(discount.index)], thread: stop };
    expect(await lisp.resume("debugger_invoke_restart", args)).to.deep.equal(["=> 1060"]);
    await lisp.evaluate("(defun shop::discount (item rate) (* (shop::price item) rate))");
  });

  it("return a value from a frame in place of the failed call", async () => {
    await lisp.evaluate(FAILING);
    const { index } = await lisp.frame("(SHOP::DISCOUNT");
    const args = { restart: "RETURN-FROM-FRAME", values: [String(index), "(* 7 rate)"] };
    expect(await lisp.resume("debugger_invoke_restart", args)).to.deep.equal(["=> 94"]);
  });

  it("refuse to restart or return from the frames of the evaluator", async () => {
    await lisp.evaluate('(error "x")');
    const { frames } = await lisp.frames({ internal: true });
    const own = frames.filter((frame) => frame.function.startsWith("SWANK-CLIENT/"));
    expect(own).to.not.be.empty;
    for (const { index } of own) {
      for (const [restart, ...values] of [
        ["RESTART-FRAME", String(index)],
        ["RETURN-FROM-FRAME", String(index), "1"],
      ] as const) {
        const refused = await lisp.refusal("debugger_invoke_restart", { restart, values });
        expect(refused, `${restart} ${index}`).to.include({ type: "NOT_RESTARTABLE" });
      }
    }
  });

  it("refuse to restart or return from local functions, and name the outer frame", async () => {
    await lisp.evaluate(`
(defun outer (n) (labels ((inner (x y) (list (error "~a ~a ~a" n x y)))) (list n (inner 1 2))))
(defun mapped (n) (flet ((inner (x) (list (error "~a ~a" n x)))) (list n (mapcar #'inner (list n)))))
(defun around (f) (list (funcall f 5)))
(defun unused (n) (flet ((inner (x y) (declare (ignore y)) (list (error "~a ~a" n x)))) (list n (inner 1 2))))
(defun cleanup (n) (list (unwind-protect n (list n (error "cleanup")))))
(defgeneric paint (thing))
(defmethod paint ((thing integer)) (list (error "paint ~a" thing)))
(defmethod paint :around ((thing integer)) (list (call-next-method)))
(defmethod paint ((thing string)) (list (error "paint ~a" thing)))
(let ((state 0)) (defmethod paint ((thing symbol)) (list (error "~a ~a" thing (incf state)))))
(defmacro narrow (form) (list 'quote (list (error "narrow ~a" form))))`);
    for (const [code, call, outer] of [
      ["(list (outer 6))", "((LABELS INNER", "(OUTER 6)"],
      ["(list (mapped 6))", "((FLET INNER", "(MAPPED 6)"],
      ["(list (unused 6))", "((FLET INNER", "(UNUSED 6)"],
      ['(list (let ((k 3)) (around (lambda (x) (list (error "~a" (list k x)))))))', "((LAMBDA (X)", "(AROUND"],
      ["(list (cleanup 3))", "((FLET ", "(CLEANUP 3)"],
    ] as const) {
      const stopped = stopName(await lisp.evaluate(code));
      const { index } = await lisp.frame(call);
      for (const [restart, verb, ...values] of [
        ["RESTART-FRAME", "Restart"],
        ["RETURN-FROM-FRAME", "Return from", ":back"],
      ] as const) {
        const args = { restart, values: [String(index), ...values] };
        const { type, message, next } = await lisp.refusal("debugger_invoke_restart", args);
        expect(type, code).to.equal("NOT_RESTARTABLE");
        expect(message, code).to.contain("is a local function");
        expect(next, code)
          .to.match(new RegExp(`^${verb} the outer frame \\d+, `))
          .and.include(outer);
      }
      expect(await lisp.json("debugger_restarts")).to.include({ thread: stopped });
      const values = [String((await lisp.frame(outer)).index), ":back"];
      expect(await lisp.resume("debugger_invoke_restart", { restart: "RETURN-FROM-FRAME", values })).to.deep.equal([
        "=> (:BACK)",
      ]);
    }
    await lisp.evaluate("(list (paint 3))");
    const { index } = await lisp.frame("((:METHOD PAINT (INTEGER)");
    const refused = await lisp.refusal("debugger_invoke_restart", {
      restart: "RESTART-FRAME",
      values: [String(index)],
    });
    expect(refused.next).to.match(/^Restart the outer frame \d+, \(\(:METHOD PAINT :AROUND/);
  });

  it("restart frames of methods, closures, SETF functions and expanders as they are defined now", async () => {
    await lisp.evaluate(`(defun (setf zap) (v x) (list (error "~a" (list v x))))
(defun opt (a &optional (b a)) (list (error "~a" (list a b))))
(let ((k 3)) (defun clos (x) (list (error "~a" (list k x)))))`);
    for (const [code, call, redefinition, value] of [
      ['(list (paint "a"))', "((:METHOD PAINT", "(defmethod paint ((thing string)) (list :new thing))", '((:NEW "a"))'],
      ["(list (paint :s))", "((:METHOD PAINT", "(defmethod paint ((thing symbol)) (list :new thing))", "((:NEW :S))"],
      ["(list (setf (zap 1) 2))", "((SETF ZAP)", "(defun (setf zap) (v x) (list :new v x))", "((:NEW 2 1))"],
      ["(list (opt 1))", "(OPT 1", "(defun opt (a &optional (b a)) (list :new a b))", "((:NEW 1 1))"],
      ["(list (clos 1))", "(CLOS 1)", "(defun clos (x) (list :new x))", "((:NEW 1))"],
      [
        "(list (eval '(narrow 7)))",
        "((MACRO-FUNCTION",
        "(defmacro narrow (form) (list 'quote (list :new form)))",
        "((:NEW 7))",
      ],
    ] as const) {
      await lisp.evaluate(code);
      await lisp.evaluate(redefinition);
      const args = { restart: "RESTART-FRAME", values: [String((await lisp.frame(call)).index)] };
      expect(await lisp.resume("debugger_invoke_restart", args), code).to.deep.equal([`=> ${value}`]);
    }
    await lisp.evaluate("(list (outer 6))");
    await lisp.evaluate("(defun outer (a b) (list a b))");
    const { index } = await lisp.frame("(OUTER 6)");
    const refused = await lisp.call("debugger_invoke_restart", { restart: "RESTART-FRAME", values: [String(index)] });
    expect(blocks(refused).join("\n")).to.include("takes another number of arguments");
  });

  it("restart no frame that may have been called without an argument whose default is another now", async () => {
    await lisp.evaluate('(defun pay (a &key b) (list (error "~a" (list a b)))) (defun call-pay (n) (list (pay n)))');
    const frame = async (call: string) => [String((await lisp.frame(call)).index)];
    const invoke = async (call: string) => ({ restart: "RESTART-FRAME", values: await frame(call) });
    await lisp.evaluate("(call-pay 1)");
    await lisp.evaluate("(defun pay (a &key (b 0)) (list :new a b))");
    const refused = await lisp.refusal("debugger_invoke_restart", await invoke("(PAY 1"));
    expect(JSON.stringify(refused)).to.match(/without an argument for which its definition now has another default/);
    expect(refused.next).to.match(/^Restart the outer frame \d+, \(CALL-PAY 1\)/);
    expect(await lisp.resume("debugger_invoke_restart", await invoke("(CALL-PAY"))).to.deep.equal(["=> ((:NEW 1 0))"]);
    await lisp.evaluate('(defun pay (a &key b) (list (error "~a" (list a b))))');
    await lisp.evaluate("(list (pay 1 :b 2))");
    await lisp.evaluate("(defun pay (a &key (b 0)) (list :new a b))");
    expect(await lisp.resume("debugger_invoke_restart", await invoke("(PAY 1"))).to.deep.equal(["=> ((:NEW 1 2))"]);
  });

  it("report the output and the next error of a continued evaluation", async () => {
    await lisp.evaluate('(progn (print :before) (error "first") (print :between) (error "second"))');
    const { index } = await lisp.frame("(EVAL", { internal: true });
    expect(index).to.be.above(0);
    await lisp.abortAll();
    await lisp.evaluate(
      '(progn (print :before) (cerror "Go on" "first") (print :between) (cerror "Go on" "second") :end)',
    );
    const [report] = await lisp.resume("debugger_continue");
    expect(report).to.match(/^\[stdout\]\n\n:BETWEEN \n\n\[ERROR\] SIMPLE-ERROR\nsecond\n/);
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> :END"]);
  });
});
