import { expect } from "chai";
import { debuggedProgram } from "../../support/mcp-program.js";
import { normalized } from "../../support/normalized.js";

const CODE = `
(defpackage :shop (:use :cl))
(in-package :shop)
(defvar *discount* 0)
(defun price (item &key (count 2 count-p) (tax 1/5) note (code (gensym)) &aux (all nil))
  (declare (ignore note code all count-p))
  (* item count (1+ tax) (- 1 *discount*)))
(defun order (items) (mapcar (lambda (item) (price item)) items))
(defun total (&rest args) (reduce #'+ args))
(defun mixed (first &rest args) (list first args))
(defun sized (list) (length list))
(defclass box () ((size :initarg :size)))
(defgeneric volume (box &key))
(defmethod volume ((box box) &key (scale 1)) (* scale (expt (slot-value box 'size) 3)))
(defmethod volume :around ((box box) &key) (call-next-method box :scale 2))
(in-package :cl-user)
:ready`;

describe("the code of breakpoints", () => {
  const program = debuggedProgram(import.meta.url, CODE);

  /** Returns the answer, with breakpoints numbered from 1. */
  async function evaluated(code: string): Promise<string> {
    const blocks = await program.lisp.evaluate(code);
    return normalized(blocks.join("\n\n")).replace(/(Breakpoints?) [\d, ]+ on/g, "$1 <n> on");
  }

  it("sees the parameters by name, also from another package, and those not passed with their constant defaults", async () => {
    const condition = "(and (eql item 3) (eql count 2) (not shop::count-p) (eql tax 1/5) (null note) (null code))";
    const { warning } = await program.lisp.setBreakpoint({ function: "shop::price", condition });
    expect(warning).to.equal(undefined);
    expect((await program.lisp.evaluate("(shop::order '(1 3 5))"))[0]).to.include("0: (SHOP::PRICE 3)");
    await program.lisp.abortAll();
    await program.lisp.removeBreakpoints();
    await program.lisp.setBreakpoint({ function: "shop::price", condition: "(and shop::count-p (eql tax 0))" });
    expect((await program.lisp.evaluate("(shop::price 1) (shop::price 2 :count 7 :tax 0)"))[0]).to.include(
      "0: (SHOP::PRICE 2 :COUNT 7 :TAX 0)",
    );
  });

  it("sees all arguments as args, even if a parameter has that name", async () => {
    await program.lisp.setBreakpoint({ function: "shop::mixed", condition: "(equal args '(1 2 3))" });
    expect((await program.lisp.evaluate("(shop::mixed 1 2 3)"))[0]).to.match(/^\[BREAKPOINT\]/);
    await program.lisp.abortAll();
    await program.lisp.setBreakpoint({ function: "shop::total", condition: "(equal args '(1 2))" });
    expect((await program.lisp.evaluate("(shop::total 1 2)"))[0]).to.match(/^\[BREAKPOINT\]/);
  });

  it("sees parameters that have the name of a function of Lisp", async () => {
    await program.lisp.setBreakpoint({ function: "shop::sized", condition: "(equal list '(1 2))" });
    expect((await program.lisp.evaluate("(shop::sized '(1)) (shop::sized '(1 2))"))[0]).to.include(
      "0: (SHOP::SIZED (1 2))",
    );
  });

  it("sees the parameters of the method that runs", async () => {
    await program.lisp.setBreakpoint({ function: "(method shop::volume (shop::box))", condition: "(eql scale 2)" });
    const [report] = await program.lisp.evaluate("(shop::volume (make-instance 'shop::box :size 2))");
    // From 2.5 on, SBCL shows more frames of the generic function, so that the report is printed from its package.
    expect(report).to.match(/^0: \(\(:METHOD (?:SHOP::)?VOLUME \((?:SHOP::)?BOX\)\) #<(?:SHOP::)?BOX .*> :SCALE 2\)$/m);
    expect(await program.lisp.resume("debugger_continue")).to.deep.equal(["=> 16"]);
  });

  it("stops if a redefinition has removed a parameter that it uses", async () => {
    await program.lisp.evaluate("(defun shop::passing (x) x)");
    await program.lisp.setBreakpoint({ function: "shop::passing", condition: "(eql x 5)" });
    await program.lisp.evaluate("(defun shop::passing (y) y)");
    expect((await program.lisp.evaluate("(shop::passing 1)"))[0]).to.include(
      "It is disabled, because its condition signalled an error: The function no longer has a parameter X.",
    );
  });

  it("counts its hits in each stop", async () => {
    await program.lisp.setBreakpoint({ function: "shop::price", condition: "(oddp item)" });
    await program.lisp.evaluate("(shop::order '(1 2 3))");
    const [second = ""] = await program.lisp.resume("debugger_continue");
    expect(second).to.match(/^\[BREAKPOINT\] BREAKPOINT-REACHED\nBreakpoint \d+ on SHOP::PRICE, hit 2\.\n/);
  });

  it("prints an expression with the caller instead of stopping", async () => {
    const { id, ...set } = await program.lisp.setBreakpoint({
      function: "shop::price",
      condition: "(> item 1)",
      log: "(list item tax)",
    });
    expect(set).to.deep.equal({
      function: "SHOP::PRICE",
      condition: "(> item 1)",
      log: "(list item tax)",
      hits: 0,
      state: "armed",
    });
    program.snapshots.match(
      "printed at each hit",
      await evaluated("(progn (shop::price 2 :tax 0) (shop::order '(1 2 3)))"),
    );
    expect((await program.lisp.breakpoints())[0]).to.deep.include({ id, hits: 3 });
  });

  it("prints outside the program's own streams, and the error of an expression that fails", async () => {
    await program.lisp.setBreakpoint({ function: "shop::price", log: "(car item)" });
    program.snapshots.match(
      "an expression that fails",
      await evaluated("(with-output-to-string (*standard-output*) (shop::price 5))"),
    );
  });

  it("prints for a method each run, with its own arguments", async () => {
    await program.lisp.setBreakpoint({ function: "(method shop::volume (shop::box))", log: "(list args scale)" });
    const printed = await evaluated("(shop::volume (make-instance 'shop::box :size 2))");
    // Newer SBCLs know that the :AROUND method was called with keywords, which its code does not use.
    program.snapshots.match("printed for a method", printed.replace(" &REST #<unavailable argument>", ""));
  });

  it("prints calls in threads to the evaluation that started them, and lists those after its end", async () => {
    await program.lisp.setBreakpoint({ function: "shop::price", log: "item", thread: "any" });
    const joined = "(sb-thread:join-thread (sb-thread:make-thread (lambda () (shop::order '(4 5)))))";
    expect((await program.lisp.evaluate(joined))[0]).to.equal(
      "[stdout]\n; SHOP::PRICE, hit 1: 4, called by (SHOP::ORDER (4 5))\n; SHOP::PRICE, hit 2: 5, called by (SHOP::ORDER (4 5))\n\n=> (48/5 12)",
    );
    await program.lisp.evaluate(
      "(defvar *late* (sb-thread:make-thread (lambda () (sleep 0.2) (loop for i to 30 do (shop::price i)))))",
    );
    await program.lisp.evaluate("(sb-thread:join-thread *late*)");
    const { logged } = (await program.lisp.breakpoints())[0] ?? {};
    expect(logged).to.have.lengthOf(20);
    expect(logged?.at(-1)).to.match(/^; SHOP::PRICE, hit 33: 30, called at top level$/);
  });

  it("that cannot be compiled is refused, and says which", async () => {
    const refused = await program.lisp.refusal("breakpoint_set", { function: "shop::price", log: "(list item" });
    expect(refused).to.include({ type: "BREAKPOINT_REFUSED" });
    expect(refused.message).to.include("Its log is refused: ");
    const two = await program.lisp.refusal("breakpoint_set", { function: "shop::price", log: "item (list 1)" });
    expect(two.message).to.include(
      "Its log is refused: It contains 2 forms, and only one value is printed: write (list ITEM (LIST 1)).",
    );
    const { warning } = await program.lisp.setBreakpoint({ function: "shop::price", log: "(list itme)" });
    expect(warning).to.match(/^The compiler warns about its code: undefined variable: \S*ITME\.$/i);
    const unknown = await program.lisp.setBreakpoint({ function: "shop::price", condition: "(cheap item)" });
    expect(unknown.warning).to.equal("The compiler warns about its code: undefined function: COMMON-LISP-USER::CHEAP.");
  });

  it("is named with the reason when an evaluation returns without a hit", async () => {
    await program.lisp.setBreakpoint({ function: "shop::total" });
    await program.lisp.setBreakpoint({ function: "shop::price", condition: "(eql item 7)" });
    await program.lisp.setBreakpoint({ function: "shop::order", hit_count: 3 });
    await program.lisp.setBreakpoint({ function: "shop::sized" });
    const code =
      "(progn (sb-thread:join-thread (sb-thread:make-thread (lambda () (shop::sized '())))) (shop::order '(1 2)))";
    program.snapshots.match("breakpoints that did nothing", await evaluated(code));
    const result = await program.lisp.call("evaluate-lisp", { code: "(shop::total 1)" });
    expect(result._meta?.["swank-mcp/outcome"]).to.include({ status: "stopped" });
    await program.lisp.removeBreakpoints();
    expect(await program.lisp.resume("debugger_continue")).to.deep.equal(["=> 1"]);
  });

  it("is named again only if code names its function, or something has happened to it since", async () => {
    const { id } = await program.lisp.setBreakpoint({ function: "shop::total" });
    const uncalled = `=> 1\n\nBreakpoint ${id} on SHOP::TOTAL was not hit: it was not called by name.`;
    expect(await evaluated("1")).to.equal(uncalled.replace(String(id), "<n>"));
    expect(await evaluated("1")).to.equal("=> 1");
    expect(await evaluated("(or 1 (shop::total 2))")).to.equal(uncalled.replace(String(id), "<n>"));
    await program.lisp.removeBreakpoints();
    await program.lisp.setBreakpoint({ function: "shop::total", condition: "(eql (first args) 77)" });
    expect(await evaluated("(funcall 'shop::total 2)")).to.match(/false at the only call/);
    expect(await evaluated("1")).to.equal("=> 1");
    expect(await evaluated("(or 1 'shop::total)")).to.match(/was not called by name/);
  });

  it("is named once a function that was not called, and not so if a call stopped at another breakpoint on it or ran for the debugger", async () => {
    await program.lisp.setBreakpoint({ function: "shop::total", condition: "(eql (first args) 77)" });
    await program.lisp.setBreakpoint({ function: "shop::total", condition: "(eql (first args) 1)" });
    await program.lisp.setBreakpoint({ function: "shop::sized", condition: "(null list)" });
    program.snapshots.match("no call", await evaluated("(+ 1 1)"));
    await program.lisp.evaluate("(shop::total 1)");
    await program.lisp.call("debugger_eval_in_frame", { frame: 0, code: "(shop::sized '(1))" });
    await program.lisp.abortAll();
    program.snapshots.match(
      "a call that was left at another breakpoint, and one of the debugger",
      await evaluated("(+ 1 1)"),
    );
    program.snapshots.match("a call that reached it", await evaluated("(shop::total 2)"));
  });
});
