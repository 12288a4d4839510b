import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { liveDebugger, liveFolder } from "../../support/live-server.js";
import { stopName } from "../../support/mcp-debugger.js";
import { blocks } from "../../support/mcp-results.js";

const FILE = `(defpackage :my-app (:use :cl) (:export #:compute))
(in-package :my-app)

;; Größe: more bytes than characters
(defun compute (x y)
  (let ((sum (+ x y)))
    (list "ö" (car sum))))
`;

function setRemark(names: string): string {
  const [it, its, s] = names.includes(",") ? ["them", "their", "s"] : ["it", "its", ""];
  return `Set ${names}. The code sees ${it} only where the compiler has not derived constants or types from ${its} old value${s}.`;
}

describe("debugger_frames and debugger_frame_locals", () => {
  const folder = liveFolder("swank-mcp-frames");
  const lisp = liveDebugger();
  before(async () => {
    await writeFile(join(folder, "compute.lisp"), FILE);
    await lisp.evaluate(`(load ${JSON.stringify(join(folder, "compute.lisp"))})`);
    await lisp.evaluate('(defun deep (n) (if (= n 0) (error "bottom") (1+ (deep (1- n)))))');
  });

  it("show the function with its package, the place in its file, and its variables", async () => {
    const stop = stopName(await lisp.evaluate("(my-app:compute 10 20)"));
    const { frames, total_frames, thread } = await lisp.frames();
    expect(thread).to.equal(stop);
    expect(total_frames).to.be.at.least(frames.length);
    const compute = frames.find((frame) => frame.function === "MY-APP:COMPUTE");
    expect(compute).to.deep.include({ call: "(MY-APP:COMPUTE 10 20)" });
    expect(compute?.source).to.deep.equal({ file: join(folder, "compute.lisp"), line: 7, column: 15 });
    expect(compute?.locals.map(({ name, value }) => [name, value])).to.deep.equal([
      ["X", "10"],
      ["Y", "20"],
      ["SUM", "30"],
    ]);
  });

  it("list the same variables in a page of frames and for one frame, arguments first and marked", async () => {
    await lisp.evaluate("(defun zoo (z &optional (b 2) &rest others) (let ((a (list b))) (deep 0) (list z a others)))");
    await lisp.evaluate("(defgeneric feed (animal food)) (defmethod feed ((animal symbol) food) (zoo animal food 7))");
    await lisp.evaluate("(defun keep (v) (labels ((local (q) (list q (feed q 6)))) (list (local v) (local :bee))))");
    await lisp.evaluate("(list (keep :ape))");
    for (const [call, own] of [
      ["(DEEP 0)", ["N"]],
      ["(ZOO", ["Z", "B", "OTHERS"]],
      ["((:METHOD FEED", ["ANIMAL", "FOOD"]],
      ["((LABELS LOCAL", ["Q"]],
    ] as const) {
      const { index, locals } = await lisp.frame(call);
      expect(locals, call).to.deep.equal((await lisp.json("debugger_frame_locals", { frame: index }))["locals"]);
      expect(locals.slice(0, own.length).map(({ name }) => name)).to.deep.equal(own);
      for (const local of locals) expect(local, call).to.have.property("object_id");
      expect(locals.map((local) => "argument" in local)).to.deep.equal(locals.map((_, at) => at < own.length));
    }
  });

  it("are of the same kinds on every page", async () => {
    await lisp.evaluate("(deep 30)");
    const { frames, total_frames: total, internal_left_out: left } = await lisp.frames({ end: 100 });
    expect(frames.map(({ call }) => call)).to.deep.equal(Array.from({ length: 31 }, (_, n) => `(DEEP ${n})`));
    expect(left).to.equal(total - 31);
    const pages = await Promise.all([0, 7, 25].map((start) => lisp.frames({ start, end: start + 5 })));
    for (const page of pages) {
      expect(page.frames.length + (page.internal_left_out ?? 0) + (page.outside_page ?? 0)).to.equal(total);
      const indexes = page.frames.map(({ index }) => index);
      expect(frames.map(({ index }) => index)).to.include.members(indexes);
    }
  });

  it("tell Lisp's frames of a thread that code started from the user's", async () => {
    await lisp.evaluate('(defun work () (list (error "in a thread"))) (sb-thread:make-thread #\'work)');
    while ((await lisp.stops()).length === 0) await lisp.evaluate("(sleep 0.05)");
    const [thread = ""] = await lisp.stops();
    const { frames } = await lisp.frames({ thread });
    expect(frames.map(({ call }) => call)).to.deep.equal(["(WORK)"]);
  });

  it("take, for three frames with variables, at most 1.2 kB", async () => {
    await lisp.evaluate(`(defun price (item rate) (let ((base (getf item :price))) (* base (car rate))))
      (defun total (items rate) (let ((sum 0)) (dolist (item items sum) (incf sum (price item rate)))))
      (defun bill (items) (let ((rate 2)) (list :total (total items rate))))`);
    await lisp.evaluate("(bill '((:name a :price 10) (:name b :price 20)))");
    const answer = await lisp.json("debugger_frames", {});
    expect(answer["frames"]).to.have.lengthOf(3);
    expect(JSON.stringify(answer).length).to.be.at.most(1200);
  });

  it("show the form of code that was not loaded from a file", async () => {
    await lisp.evaluate("(deep 0)");
    expect((await lisp.frame("(DEEP 0)")).source).to.deep.equal({ form: '(ERROR "bottom")' });
  });

  it("show no forms of the evaluator's code", async () => {
    await lisp.evaluate("(deep 0)");
    const { frames } = await lisp.frames({ end: 100, internal: true });
    expect(frames.filter(({ source }) => source && "form" in source).map(({ call }) => call)).to.deep.equal([
      "(DEEP 0)",
    ]);
  });

  it("list all frames, including those of Lisp itself, in pages without gaps or overlaps", async () => {
    await lisp.evaluate("(deep 30)");
    const { frames: all, total_frames: total } = await lisp.frames({ end: 100, internal: true });
    expect(all).to.have.lengthOf(total);
    expect(all.map(({ index }) => index)).to.deep.equal(all.map((_, index) => index));
    expect((await lisp.frames({ internal: true })).frames).to.have.lengthOf(20);
    const page = async (start: number, end?: number) =>
      (await lisp.frames({ start, internal: true, ...(end ? { end } : {}) })).frames;
    // The garbage collector moves objects, whose addresses are in the text.
    const still = (frames: unknown) =>
      JSON.stringify(frames, undefined, 1).replaceAll(/\{1[0-9A-F]{9}\}/g, "{address}");
    expect(still([...(await page(0, 7)), ...(await page(7, 20)), ...(await page(20, total + 50))])).to.equal(
      still(all),
    );
    // A page can begin where the first one ends.
    expect(still(await page(20))).to.equal(still(all.slice(20, 40)));
    expect(await page(3, 3)).to.deep.equal([]);
  });

  it("number frames like the report, get-backtrace and the other tools", async () => {
    const [report = ""] = await lisp.evaluate("(deep 2)");
    const [backtrace = ""] = blocks(await lisp.call("get-backtrace"));
    const lines = report.slice(report.indexOf("[Backtrace]\n")).split("\n").slice(1);
    expect(lines).to.have.lengthOf(3);
    for (const line of lines) {
      expect(backtrace.split("\n")).to.include(line);
      const [, index = "", call = ""] = /^(\d+): (.*)$/.exec(line) ?? [];
      expect((await lisp.frame(call)).index).to.equal(Number(index));
    }
  });

  it("give each variable an object_id that code can use only while the stop lasts", async () => {
    await lisp.evaluate("(let ((table (make-hash-table))) (setf (gethash :k table) 1) (deep 0) table)");
    await lisp.evaluate("(defun hold (table) (deep 0) (gethash :k table))");
    await lisp.abortAll();
    await lisp.evaluate("(let ((table (make-hash-table))) (setf (gethash :k table) 1) (hold table))");
    const hold = await lisp.frame("(HOLD");
    const [table] = await lisp.locals("(HOLD");
    expect(table?.name).to.equal("TABLE");
    const id = table?.object_id;
    expect(await lisp.json("debugger_frame_locals", { frame: hold.index })).to.deep.include({
      locals: [{ name: "TABLE", value: table?.value, object_id: id, argument: true }],
      catch_tags: [],
    });
    expect(await lisp.evaluate(`(incf (gethash :k (swank-objects:ref ${id})) 41)`)).to.deep.equal(["=> 42"]);
    expect(await lisp.valuesInFrame(hold.index, "(gethash :k table)")).to.deep.equal(["42", "T"]);
    await lisp.abortAll();
    const [gone] = await lisp.evaluate(`(swank-objects:ref ${id})`);
    expect(gone).to.match(
      new RegExp(`^\\[ERROR\\] SIMPLE-ERROR\\nThere is no object ${id}: the stop at which it was listed has ended`),
    );
  });

  it("show a variable's new value after debugger_eval_in_frame sets it", async () => {
    await lisp.evaluate("(my-app:compute 10 20)");
    const { index } = await lisp.frame("(MY-APP:COMPUTE");
    const code = '(setq x (* x 2)) (format t "x is ~a" x) (values x (+ x y) *package*)';
    expect(await lisp.resume("debugger_eval_in_frame", { frame: index, code })).to.deep.equal([
      '[stdout]\nx is 20\n\n=> 20\n=> 40\n=> #<PACKAGE "COMMON-LISP-USER">',
      `${setRemark("X")}\nRead in package MY-APP.`,
    ]);
    expect((await lisp.locals("(MY-APP:COMPUTE")).find(({ name }) => name === "X")?.value).to.equal("20");
  });

  it("report code in a frame as evaluate-lisp does, and say in which package it was read", async () => {
    await lisp.evaluate("(my-app:compute 10 20)");
    const { index } = await lisp.frame("(MY-APP:COMPUTE");
    const report = async (code: string, options = {}) =>
      (await lisp.resume("debugger_eval_in_frame", { frame: index, code, ...options })).join("\n---\n");
    const both = "(values 'my-app::local 'cl-user::other (+ x y))";
    expect(await report(both)).to.equal("=> LOCAL\n=> COMMON-LISP-USER::OTHER\n=> 30\n---\nRead in package MY-APP.");
    expect(await report(both, { package: "cl-user" })).to.equal(
      "=> MY-APP::LOCAL\n=> OTHER\n=> 30\n---\nRead in package COMMON-LISP-USER.",
    );
    expect(await report('(warn "careful") (princ 1) (values)')).to.equal(
      "[stdout]\n1\n\n[stderr]\nWARNING: careful\n\n; No values\n---\nRead in package MY-APP.",
    );
    const refused = await lisp.refusal("debugger_eval_in_frame", { frame: index, code: "(car nowhere)" });
    expect(refused).to.include({
      type: "FRAME_EVALUATION_FAILED",
      message: "UNBOUND-VARIABLE: The variable MY-APP::NOWHERE is unbound.",
      next: "The code was read in package MY-APP. Correct it and evaluate it again; the stop is unchanged.",
    });
    const nowhere = await lisp.refusal("debugger_eval_in_frame", { frame: index, code: "1", package: "no-such" });
    expect(nowhere).to.include({ type: "NO_SUCH_PACKAGE", message: "There is no package named no-such." });
  });

  it("say of a variable that code in a frame set that the program may go on with its old value", async () => {
    await lisp.evaluate("(defun checked (a) (if (eq a 5) (progn (break) (list a 1)) a))");
    await lisp.evaluate("(defun bound () (let ((a 5)) (break) (list a (+ a 1))))");
    await lisp.evaluate(
      "(defun unboxed (x p) (declare (double-float x) (type (unsigned-byte 64) p)) (break) (list x p))",
    );
    const inFrame = async (call: string) => {
      await lisp.evaluate(call);
      const { index } = await lisp.frame(call.replace(/[ )].*/, ""));
      return (code: string) => lisp.resume("debugger_eval_in_frame", { frame: index, code });
    };
    for (const call of ["(checked 5)", "(bound)"]) {
      const run = await inFrame(call.toUpperCase());
      expect(await run("(setf a 9)"), call).to.deep.equal([
        "=> 9",
        `${setRemark("A")}\nRead in package COMMON-LISP-USER.`,
      ]);
      expect(await run("a"), call).to.deep.equal(["=> 9", "Read in package COMMON-LISP-USER."]);
      expect(await run("(setf a 9)"), call).to.deep.equal(["=> 9", "Read in package COMMON-LISP-USER."]);
      await lisp.abortAll();
    }
    const run = await inFrame("(UNBOXED 1.5d0 (1- (expt 2 64)))");
    expect((await run("(list x p)"))[1]).to.equal("Read in package COMMON-LISP-USER.");
    expect((await run("(setf x 2d0 p 7)"))[1]).to.equal(`${setRemark("X, P")}\nRead in package COMMON-LISP-USER.`);
  });

  it("refuse to set a variable that has no value in its frame, instead of a global one of that name", async () => {
    await lisp.evaluate('(defun lost (lost-a &key (lost-b 2)) (error "x") (list lost-a lost-b))');
    for (const [call, name] of [
      ["(LOST 1)", "LOST-A"],
      ["(LOST 1)", "LOST-B"],
    ] as const) {
      await lisp.evaluate(call);
      const { index } = await lisp.frame(call.replace(/[ )].*/, ""));
      for (const code of [`(setf ${name} 9)`, `(incf ${name})`, `(let ((x 1)) (list x ${name}))`]) {
        const refused = await lisp.refusal("debugger_eval_in_frame", { frame: index, code });
        expect(refused.message, code).to.include(
          `${name} is a variable of this function, but the compiler keeps no value`,
        );
      }
      expect(await lisp.valuesInFrame(index, `(let ((${name} 4)) ${name})`)).to.deep.equal(["4"]);
      await lisp.abortAll();
      expect(await lisp.evaluate(`(boundp '${name})`)).to.deep.equal(["=> NIL"]);
    }
  });

  it("name the variables that code in a frame had set before it failed", async () => {
    await lisp.evaluate("(my-app:compute 10 20)");
    const { index } = await lisp.frame("(MY-APP:COMPUTE");
    const failed = await lisp.refusal("debugger_eval_in_frame", { frame: index, code: '(setf y 3) (error "late")' });
    expect(failed.next).to.match(/the stop is unchanged\. The code has already set Y\.$/);
    expect(await lisp.valuesInFrame(index, "y")).to.deep.equal(["3"]);
  });

  it("keep the stop whatever code debugger_eval_in_frame evaluates", async () => {
    const stop = stopName(await lisp.evaluate("(handler-case (deep 0) (warning () :handled))"));
    const { index } = await lisp.frame("(DEEP");
    for (const [code, message] of [
      ["(car 1)", /TYPE-ERROR: /],
      ["(car", /The code ends in the middle of a form/],
      ["nosuch:x", /READER-ERROR|PACKAGE/],
      ["(abort)", /CONTROL-ERROR: No restart ABORT is active/],
      ["(break)", /SIMPLE-CONDITION: break/],
      ["(labels ((f (n) (1+ (f n)))) (f 1))", /STORAGE-CONDITION: Control stack exhausted/],
      ["(labels ((f (n) (1+ (f n)))) (f 1))", /STORAGE-CONDITION: Control stack exhausted/],
    ] as const) {
      const refused = await lisp.refusal("debugger_eval_in_frame", { frame: index, code });
      expect(refused, code).to.include({ type: "FRAME_EVALUATION_FAILED" });
      expect(refused.message, code).to.match(message);
    }
    expect(await lisp.valuesInFrame(index, '(warn "no handler of the program sees this")')).to.deep.equal(["NIL"]);
    const flood = { frame: index, code: "(dotimes (i 100000) (print i))" };
    expect((await lisp.resume("debugger_eval_in_frame", flood))[0]).to.match(
      /\d ?\n\[\.\.\. \d+ characters left out \.\.\.\]$/,
    );
    expect(await lisp.stops()).to.deep.equal([stop]);
  });
});
