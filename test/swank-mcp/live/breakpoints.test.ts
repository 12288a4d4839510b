import { expect } from "chai";
import { liveDebugger } from "../../support/live-server.js";
import { stopName } from "../../support/mcp-debugger.js";
import { blocks } from "../../support/mcp-results.js";

const CODE = `
(defpackage :app (:use :cl))
(in-package :app)
(defun bar (a &optional (b 2) &key c) (list a b c))
(defun each (n) (loop for i from 1 to n collect (bar i)))
(defgeneric area (shape))
(defmethod area ((n integer)) (* n n))
(defmethod area ((s string)) (length s))
(in-package :cl-user)
:ready`;

describe("breakpoints", () => {
  const lisp = liveDebugger({ code: CODE });

  it("stop in the function's own frame, with its arguments as variables", async () => {
    const { id, ...set } = await lisp.setBreakpoint({ function: "app:bar".replace(":", "::") });
    expect(set).to.deep.equal({ function: "APP::BAR", hits: 0, state: "armed" });
    const result = await lisp.call("evaluate-lisp", { code: "(app::bar 1 5 :c 7)" });
    expect(result.isError).to.equal(false);
    expect(result._meta?.["swank-mcp/outcome"]).to.deep.include({
      status: "stopped",
      stop: { reason: "breakpoint", breakpoint: id, hits: 1 },
    });
    expect(blocks(result)[0]).to.match(
      /^\[BREAKPOINT\] BREAKPOINT-REACHED\nBreakpoint \d+ on APP::BAR, hit 1\.\n\n\[Backtrace\]\n0: \(APP::BAR 1 5 :C 7\)/,
    );
    const { frames } = await lisp.frames({ end: 1 });
    expect(frames[0]).to.include({ index: 0, function: "APP::BAR" });
    expect((await lisp.locals("(APP::BAR")).map(({ name, value }) => `${name}=${value}`)).to.deep.equal([
      "A=1",
      "B=5",
      "C=7",
    ]);
    expect(await lisp.valuesInFrame(0, "(list a b c)")).to.deep.equal(["(1 5 7)"]);
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (1 5 7)"]);
  });

  it("let code in the stopped call set its arguments", async () => {
    await lisp.evaluate(`(in-package :app)
(defvar *special* :global)
(defun greet (name &optional (greeting "Hello") &rest others) (list name greeting others))
(defun keys (a &key (b 2 b-p) c (d (list a))) (list a b b-p c d))
(defun rebind (*special*) (list *special*))
(defmethod area ((p pathname)) (list p))
(in-package :cl-user)`);
    for (const [name, call, code, result] of [
      ["app::greet", '(app::greet "Ann")', '(setf name "Bob")', '("Bob" "Hello" NIL)'],
      ["app::greet", '(app::greet "Ann")', '(setf name "Bob" greeting "Hi")', '("Bob" "Hi" NIL)'],
      ["app::greet", '(app::greet "Ann" "Hey" 1)', "(push 0 others)", '("Ann" "Hey" (0 1))'],
      [
        "app::greet",
        '(app::greet "Ann")',
        "(funcall (lambda () (let ((x 3)) (setq name (list x name)))))",
        '((3 "Ann") "Hello" NIL)',
      ],
      ["app::keys", "(app::keys 1)", "(progn (incf a) (setf c :c) (incf b))", "(2 3 T :C (2))"],
      ["app::keys", "(app::keys 1 :c :b :b 5)", "(psetf b c c b)", "(1 :B T 5 (1))"],
      ["app::keys", "(app::keys 1)", "(multiple-value-setq (a c) (values b (list b-p)))", "(2 2 NIL (NIL) (2))"],
      ["app::rebind", "(app::rebind 1)", "(incf app::*special*)", "(2)"],
      ["app::area", "(app::area 3)", '(setf shape "four")', "4"],
      ["(method app::area (integer))", "(app::area 3)", "(incf n)", "16"],
    ] as const) {
      await lisp.setBreakpoint({ function: name });
      await lisp.evaluate(call);
      await lisp.valuesInFrame(0, code);
      expect(await lisp.resume("debugger_continue"), `${call} ${code}`).to.deep.equal([`=> ${result}`]);
      await lisp.removeBreakpoints();
    }
    await lisp.setBreakpoint({ function: "app::keys" });
    await lisp.evaluate("(app::keys 1)");
    expect(await lisp.resume("debugger_eval_in_frame", { frame: 0, code: "(setf b 7)" })).to.deep.equal([
      "=> 7",
      "Read in package APP.",
    ]);
    expect((await lisp.frame("(APP::KEYS")).call).to.equal("(APP::KEYS 1 :B 7)");
    expect((await lisp.locals("(APP::KEYS")).map(({ name, value }) => `${name}=${value}`)).to.deep.equal([
      "A=1",
      "B=7",
    ]);
    for (const [code, error] of [
      ["d", /D has no value yet: the function computes it when it begins/],
      ["(setf b-p nil)", /B-P cannot be set before the call begins/],
    ] as const) {
      const failed = await lisp.call("debugger_eval_in_frame", { frame: 0, code });
      expect(blocks(failed)[0], code).to.match(error);
    }
  });

  it("stop if the condition, which can use args, is true", async () => {
    const { id } = await lisp.setBreakpoint({ function: "app::bar", condition: "(> (car args) 2)" });
    await lisp.evaluate("(app::each 4)");
    expect((await lisp.frame("(APP::BAR")).call).to.equal("(APP::BAR 3)");
    await lisp.resume("debugger_continue");
    expect((await lisp.frame("(APP::BAR")).call).to.equal("(APP::BAR 4)");
    expect((await lisp.breakpoints()).find((each) => each.id === id)).to.deep.equal({
      id,
      function: "APP::BAR",
      condition: "(> (car args) 2)",
      hits: 2,
      state: "armed",
    });
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> ((1 2 NIL) (2 2 NIL) (3 2 NIL) (4 2 NIL))"]);
  });

  it("with a hit count stop at that hit and every later one", async () => {
    await lisp.setBreakpoint({ function: "app::bar", hit_count: 3 });
    await lisp.evaluate("(app::each 4)");
    expect((await lisp.frame("(APP::BAR")).call).to.equal("(APP::BAR 3)");
    await lisp.resume("debugger_continue");
    expect((await lisp.frame("(APP::BAR")).call).to.equal("(APP::BAR 4)");
    expect(await lisp.breakpoints()).to.have.nested.property("[0].hit_count", 3);
    expect((await lisp.resume("debugger_continue"))[0]).to.match(/^=> /);
  });

  it("count only hits with a true condition", async () => {
    await lisp.setBreakpoint({ function: "app::bar", condition: "(evenp (first args))", hit_count: 2 });
    await lisp.evaluate("(app::each 5)");
    expect((await lisp.frame("(APP::BAR")).call).to.equal("(APP::BAR 4)");
  });

  it("for one thread stop no other thread", async () => {
    const stop = stopName(await lisp.evaluate("(progn (break) (app::each 1))"));
    const [thread = ""] = stop.split("/");
    await lisp.setBreakpoint({ function: "app::bar", thread });
    expect(await lisp.evaluate("(app::each 1)")).to.deep.equal(["=> ((1 2 NIL))"]);
    const [report] = await lisp.resume("debugger_continue", { thread });
    expect(report).to.match(/^\[BREAKPOINT\]/);
    expect(await lisp.resume("debugger_continue", { thread })).to.deep.equal(["=> ((1 2 NIL))"]);
  });

  it("stop only this session's evaluations by default", async () => {
    await lisp.setBreakpoint({ function: "app::bar" });
    const inThread = "(sb-thread:join-thread (sb-thread:make-thread (lambda () (app::each 1))))";
    expect((await lisp.evaluate(inThread))[0]).to.equal("=> ((1 2 NIL))");
  });

  it("for any thread are reported with the next answer, and the thread can be inspected, stepped and continued", async () => {
    await lisp.setBreakpoint({ function: "app::each", thread: "any" });
    expect((await lisp.breakpoints())[0]?.thread).to.equal("any");
    await lisp.evaluate("(defvar *worker* (sb-thread:make-thread (lambda () (app::each 2))))");
    let notice: string | undefined;
    while (notice === undefined) {
      notice = (await lisp.evaluate("(sleep 0.02)")).find((block) => block.includes("stopped with"));
    }
    expect(notice).to.include("BREAKPOINT-REACHED: Breakpoint").and.to.include("on APP::EACH, hit 1.");
    const thread = /thread "(\d+\/1)"/.exec(notice)?.[1] ?? "";
    expect(await lisp.locals("(APP::EACH", { thread })).to.have.nested.property("[0].value", "2");
    const [step] = await lisp.resume("debugger_step", { mode: "into", thread });
    expect(step).to.match(/^\[STEP\] STEP-FORM-CONDITION\nEvaluating call:\n {2}\(BAR I\)\n/);
    const [continued] = await lisp.resume("debugger_continue", { thread });
    expect(continued).to.be.oneOf([`; Thread ${thread} resumed`, `; Thread ${thread} ended`]);
    expect(await lisp.evaluate("(sb-thread:join-thread *worker*)")).to.deep.equal(["=> ((1 2 NIL) (2 2 NIL))"]);
    const seen = "(sb-thread:join-thread (sb-thread:make-thread (lambda () (boundp 'swank::*buffer-package*))))";
    expect(await lisp.evaluate(seen), "what Swank binds in other threads").to.deep.equal(["=> NIL"]);
  });

  it("can be set on generic functions and on single methods", async () => {
    await lisp.setBreakpoint({ function: "(method app::area (string))" });
    expect((await lisp.evaluate("(app::area 3)"))[0]).to.equal("=> 9");
    expect((await lisp.evaluate('(app::area "abc")'))[0]).to.include('0: ((:METHOD APP::AREA (STRING)) "abc")');
    await lisp.removeBreakpoints();
    await lisp.abortAll();
    await lisp.setBreakpoint({ function: "app::area" });
    expect((await lisp.evaluate("(app::area 3)"))[0]).to.include("0: (APP::AREA 3)");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> 9"]);
  });

  it("on a structure's constructor give its arguments names that code can use", async () => {
    await lisp.evaluate("(defstruct spot x) (defun spot () (funcall 'make-spot :x 5))");
    await lisp.setBreakpoint({ function: "make-spot" });
    await lisp.evaluate("(spot)");
    expect((await lisp.locals("(MAKE-SPOT")).map(({ name }) => name)).to.deep.equal(["X"]);
    expect(await lisp.valuesInFrame(0, "(list x)")).to.deep.equal(["(5)"]);
  });

  it("accept an internal symbol with one colon, and refuse anything but a name", async () => {
    expect((await lisp.setBreakpoint({ function: "app:bar" })).function).to.equal("APP::BAR");
    for (const name of ["app::bar app::each", "app::bar)", "app:no-such", "   ", "app::"]) {
      expect(await lisp.refusal("breakpoint_set", { function: name }), name).to.include({ type: "BREAKPOINT_REFUSED" });
    }
  });

  it("do not fire in their own conditions, which get a copy of the arguments", async () => {
    await lisp.setBreakpoint({ function: "app::bar", condition: "(app::bar 1) (setf (car args) 9)" });
    expect((await lisp.evaluate("(app::bar 1)"))[0]).to.include("0: (APP::BAR 1)");
    expect((await lisp.breakpoints())[0]).to.include({ hits: 1 });
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (1 2 NIL)"]);
  });

  it("with an invalid condition are refused, and use no number", async () => {
    const { id: before } = await lisp.setBreakpoint({ function: "app::each" });
    for (const condition of ["(> (car args) 2", "(no-such-package:f args)", "", "(car args))"]) {
      const refused = await lisp.refusal("breakpoint_set", { function: "app::bar", condition });
      expect(refused, condition).to.include({ type: "BREAKPOINT_REFUSED" });
      expect(refused.message, condition).to.include("Its condition is refused: ");
    }
    expect((await lisp.setBreakpoint({ function: "app::bar" })).id).to.equal(Number(before) + 1);
  });

  it("whose condition never finishes compiling are refused, and leave no thread behind", async () => {
    const refused = await lisp.refusal("breakpoint_set", { function: "app::bar", condition: "#.(loop (sleep 0.01))" });
    expect(refused).to.include({ type: "BREAKPOINT_REFUSED" });
    const workers = "(count \"worker\" (mapcar #'sb-thread:thread-name (sb-thread:list-all-threads)) :test #'string=)";
    expect(
      await lisp.evaluate(`(loop repeat 500 for n = ${workers} until (= n 1) do (sleep 1/100) finally (return n))`),
    ).to.deep.equal(["=> 1"]);
    expect(await lisp.breakpoints()).to.deep.equal([]);
  });

  it("are reported as lost when their function has been undefined", async () => {
    await lisp.evaluate("(defun app::passing () 1)");
    const { id } = await lisp.setBreakpoint({ function: "app::passing" });
    await lisp.evaluate("(fmakunbound 'app::passing) (defun app::passing () 2)");
    expect(await lisp.evaluate("(app::passing)")).to.deep.equal([
      "=> 2",
      `Breakpoint ${id} on APP::PASSING is lost: its function was undefined or replaced.`,
    ]);
    expect(await lisp.breakpoints()).to.deep.equal([{ id, function: "APP::PASSING", hits: 0, state: "lost" }]);
  });

  it("can be set on slot writers, and show the method that writes", async () => {
    await lisp.evaluate("(defclass box () ((content :initform 0 :accessor content)))");
    await lisp.evaluate("(defmethod app::area ((b box)) (setf (content b) nil))");
    await lisp.setBreakpoint({ function: "(setf content)", condition: "(null (first args))" });
    const [report] = await lisp.evaluate("(let ((b (make-instance 'box))) (setf (content b) 1) (app::area b))");
    expect(report).to.match(/^\[BREAKPOINT\] BREAKPOINT-REACHED\n/);
    expect(report).to.match(/\n0: \(\(SETF CONTENT\) NIL #<BOX .*\n1: \(\(:METHOD APP::AREA \(BOX\)\)/);
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> NIL"]);
  });

  it("whose condition fails stop once, show the reason, and are then disabled", async () => {
    await lisp.setBreakpoint({ function: "app::bar", condition: "(car (first args))" });
    const [report] = await lisp.evaluate("(app::each 3)");
    expect(report).to.include("It is disabled, because its condition signalled an error");
    expect((await lisp.breakpoints())[0]).to.include({ state: "failed" });
    expect((await lisp.resume("debugger_continue"))[0]).to.match(/^=> /);
  });

  it("name the calls that they do not catch", async () => {
    await lisp.evaluate("(declaim (inline small)) (defun small (x) x)");
    expect((await lisp.setBreakpoint({ function: "small" })).warning).to.match(/inline/);
    const inlined: readonly (readonly [code: string, name: string, reason: RegExp])[] = [
      [
        "(declaim (inline twice)) (defun twice (x) (* 2 x)) (defun use-twice (x) (twice x))",
        "twice",
        /declared inline/,
      ],
      [
        "(declaim (sb-ext:maybe-inline thrice)) (defun thrice (x) (* 3 x)) (defun use-thrice (x) (declare (inline thrice)) (thrice x))",
        "thrice",
        /maybe-inline/,
      ],
      ["(defstruct spot x) (defun use-spot-x (x) (spot-x (make-spot :x x)))", "spot-x", /its structure/],
      ["(defstruct blot x) (defun use-blot-p (x) (blot-p x))", "blot-p", /its structure/],
      [
        "(defun half (x) (/ x 2)) (define-compiler-macro half (x) `(* ,x 1/2)) (defun use-half (x) (half x))",
        "half",
        /compiler macro/,
      ],
    ];
    for (const [code, name, reason] of inlined) {
      await lisp.removeBreakpoints();
      await lisp.evaluate(`(progn ${code})`);
      expect((await lisp.setBreakpoint({ function: name })).warning, name).to.match(reason);
      const text = JSON.stringify((await lisp.evaluate(`(use-${name} 4)`)).slice(1));
      expect(text, name).to.contain("was not hit: no call reached it. ");
      expect(text, name).to.match(reason);
    }
    expect(await lisp.setBreakpoint({ function: "app::bar" })).to.not.have.property("warning");
  });

  it("leave the function unchanged when they are removed", async () => {
    const before = await lisp.evaluate("(list (fdefinition 'app::bar) (symbol-function 'app::bar))");
    const { id } = await lisp.setBreakpoint({ function: "app::bar" });
    expect(await lisp.json("breakpoint_remove", { id })).to.deep.equal({ removed: id });
    expect(await lisp.evaluate("(list (fdefinition 'app::bar) (symbol-function 'app::bar))")).to.deep.equal(before);
    expect(await lisp.evaluate("(app::bar 1)")).to.deep.equal(["=> (1 2 NIL)"]);
    expect(await lisp.breakpoints()).to.deep.equal([]);
  });

  it("removed while a thread is stopped there let it continue", async () => {
    await lisp.setBreakpoint({ function: "app::bar" });
    await lisp.evaluate("(app::each 2)");
    await lisp.removeBreakpoints();
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> ((1 2 NIL) (2 2 NIL))"]);
  });

  it("remain when the function is redefined", async () => {
    await lisp.setBreakpoint({ function: "app::bar" });
    await lisp.evaluate("(defun app::bar (a) (list a))");
    expect((await lisp.evaluate("(app::bar 1)"))[0]).to.match(/^\[BREAKPOINT\]/);
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (1)"]);
    await lisp.evaluate("(in-package :app) (defun bar (a &optional (b 2) &key c) (list a b c)) (in-package :cl-user)");
  });

  it("of this session cause stops that are not listed as foreign", async () => {
    await lisp.setBreakpoint({ function: "app::bar", thread: "any" });
    await lisp.evaluate("(sb-thread:make-thread (lambda () (app::bar 1)))");
    while ((await lisp.stops()).length === 0);
    const { stopped } = await lisp.json("lisp-status");
    expect(stopped).to.have.lengthOf(1);
    expect(stopped).to.have.nested.property("[0].type", "BREAKPOINT-REACHED");
    expect(stopped).to.not.have.nested.property("[0].foreign");
  });

  it("report a thread's next stop to the call that resumed it, even if another call was too late", async () => {
    await lisp.evaluate("(defun app::twice () (app::bar 1) (sleep 0.2) (app::bar 2))");
    await lisp.setBreakpoint({ function: "app::bar", thread: "any" });
    await lisp.evaluate("(sb-thread:make-thread #'app::twice)");
    while ((await lisp.stops()).length === 0);
    const [thread] = await lisp.stops();
    const answers = await Promise.all([1, 2].map(() => lisp.call("debugger_continue", { thread })));
    const told = answers.map((answer) => blocks(answer)[0] ?? "");
    expect(told.filter((text) => text.startsWith("[BREAKPOINT]"))).to.have.lengthOf(1);
    expect(told.filter((text) => text.includes("has ended") || text.includes("has left"))).to.have.lengthOf(1);
  });
});
