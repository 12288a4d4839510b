import { expect } from "chai";
import { connect, decode, type Evaluation, lispFunction, type Stop, type SwankClient } from "swank-client";
import * as swank from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { type OtherImage, startOtherLisp } from "../../support/other-lisps.js";

/** Milliseconds for what a busy machine does in a moment. */
const SOON = 20_000;

describe("A client of ECL", () => {
  let image: OtherImage;
  let client: SwankClient;

  before(async function () {
    // alone, this test compiles Swank first
    this.timeout(120_000);
    image = await startOtherLisp("ecl");
    client = await connect({ port: image.port, secret: false, timeout: SOON });
  });

  after(async () => {
    await client.close();
    await image.stop();
  });

  /** Evaluates code that stops. */
  async function stopped(code: string): Promise<{ evaluation: Evaluation; stop: Stop }> {
    const evaluation = client.evaluate(code);
    const outcome = await evaluation.next({ timeout: SOON });
    if (outcome.status !== "stopped") throw new Error(`${code} did not stop: ${JSON.stringify(outcome)}`);
    return { evaluation, stop: outcome.stop };
  }

  it("evaluates form by form, with output apart from values, and warnings apart from output", async () => {
    const code = '(warn "careful") (progn (princ "out") (princ "err" *error-output*) (values 3 "x"))';
    const outcome = await client.evaluate(code).next({ timeout: SOON });
    expect(outcome).to.include({ status: "returned", stdout: "out", stderr: "err" });
    expect(outcome.warnings).to.deep.equal([{ type: "WARNING", class: "SIMPLE-WARNING", message: "careful" }]);
    expect(outcome.status === "returned" && outcome.values).to.deep.equal(["3", '"x"']);
  });

  it("keeps the package and the history between evaluations", async () => {
    await client.eval('(defpackage "ECL-TEST" (:use "CL")) (in-package "ECL-TEST") (list 1 2)');
    expect(await client.eval("(list (first *) (package-name *package*))")).to.deep.equal(['(1 "ECL-TEST")']);
    await client.eval('(in-package "CL-USER")');
  });

  it("prints values as data", async () => {
    expect(await client.eval('(list 1 "x" :k)', { as: "data" })).to.have.length(1);
    expect(await client.call("+", [1, 2])).to.equal(3);
  });

  it("names the standard classes of errors that ECL has classes of its own for", async () => {
    for (const [code, name] of [
      ['(read-from-string "#<")', "READER-ERROR"],
      ['(car "x")', "SIMPLE-TYPE-ERROR"],
      ['(rename-package "NO-SUCH-PACKAGE" "X")', "PACKAGE-ERROR"],
    ] as const) {
      const { stop } = await stopped(code);
      expect(stop.condition.type, code).to.equal(name);
      await stop.abort();
    }
  });

  it("describes symbols as the contract has them", async () => {
    expect(await client.describeSymbol("mapcar")).to.include({ status: "found", name: "COMMON-LISP::MAPCAR" });
    expect(await client.describeSymbol("no-such-symbol")).to.include({ name: "NO-SUCH-SYMBOL", package: "CL-USER" });
    const found = await client.describeSymbol(":test");
    expect(found).to.have.property("name", ":TEST");
  });

  it("refuses functions of Swank that it does not have, and says what works instead", async () => {
    const { profileReport, swankSprofStop } = swank.profiling;
    expect((await rejection(client.run(profileReport), "NOT_SUPPORTED")).message).to.match(
      /^swank:profile-report: Swank in ECL \S+ cannot do this: SWANK\/BACKEND:PROFILE-REPORT not implemented\.$/,
    );
    const { message, remedy } = await rejection(client.run(swankSprofStop), "NOT_SUPPORTED");
    expect(message).to.match(/^swank:swank-sprof-stop: Swank in ECL \S+ does not have this function\.$/);
    expect(remedy).to.equal("`client.program.profile` profiles code.");
  });

  it("goes on after a request that it cannot read", async () => {
    const unreadable = lispFunction({ name: "no-such-package:f", decode: decode.any });
    await rejection(client.run(unreadable), "REQUEST_UNREADABLE");
    expect(await client.eval("1")).to.deep.equal(["1"]);
  });

  it("refuses what needs SBCL's runtime before anything is sent", async () => {
    const asked = await rejection(client.evaluate("1", { valuesAs: "ids" }).next(), "NOT_SUPPORTED");
    expect(asked.details).to.include({ ability: "inspect" });
    for (const task of [
      client.code.loadSystem("asdf"),
      client.code.runTests("x"),
      client.program.timeCode({ code: "1" }),
    ])
      expect((await rejection(task.result(), "NOT_SUPPORTED")).details).to.include({ ability: "runtime" });
    await rejection(
      client.activity.follow({}, () => undefined),
      "NOT_SUPPORTED",
    );
    expect(client.isOpen).to.equal(true);
  });

  it("says where code ends too early", async () => {
    const outcome = await client.evaluate("(car (quote").next({ timeout: SOON });
    expect(outcome).to.have.property("status", "aborted");
    expect(outcome.status === "aborted" && outcome.error?.message).to.include("2 closing parentheses are missing");
  });

  it("reports an error with the condition in words, the user's frames, and their variables", async () => {
    await client.eval("(defun halve (x) (let ((y (* 2 x))) (/ y 0)))");
    const { stop } = await stopped("(halve 21)");
    const { condition, locals, reason } = stop.data;
    expect(reason).to.equal("error");
    expect(condition.type).to.equal("DIVISION-BY-ZERO");
    expect(condition.message).to.equal("arithmetic error DIVISION-BY-ZERO signalled\nOperation was (/ 42 0).");
    expect(condition.supertypes).to.include("ARITHMETIC-ERROR");
    expect(condition.frames.find(({ kind }) => kind === "user")?.call).to.equal("(HALVE)");
    expect(locals.map(({ name, value }) => [name, value])).to.deep.equal([
      ["X", "21"],
      ["Y", "42"],
    ]);
    await stop.abort();
  });

  it("evaluates in a frame, with the frame's variables, and reports an error there without a deeper stop", async () => {
    const { evaluation, stop } = await stopped("(halve 21)");
    const frame = stop.condition.frames.find(({ kind }) => kind === "user")?.index ?? -1;
    expect((await stop.evaluateInFrame(frame, "(list x y)")).values).to.deep.equal(["(21 42)"]);
    const error = await rejection(stop.evaluateInFrame(frame, "(car 7)"), "FRAME_EVALUATION_FAILED");
    expect(error.message).to.include("CONS");
    expect((await stop.frames()).frames.map(({ index }) => index)).to.include(frame);
    expect(client.stops).to.deep.equal([stop]);
    await stop.abort();
    expect(await evaluation.next({ timeout: SOON })).to.have.property("status", "aborted");
  });

  it("evaluates in a frame of a function that establishes restarts, whose variables ECL itself confuses", async () => {
    await client.eval("(defun share (sum people) (restart-case (/ sum people) (use-value (v) v)))");
    const { stop } = await stopped("(share 7 0)");
    const frame = stop.condition.frames.find(({ kind }) => kind === "user")?.index ?? -1;
    expect((await stop.evaluateInFrame(frame, "(list sum people)")).values).to.deep.equal(["(7 0)"]);
    const set = await stop.evaluateInFrame(frame, "(setf people 2)");
    expect(set).to.deep.include({ values: ["2"], set: [] });
    expect(set.stderr).to.include("The frame's PEOPLE keeps its value");
    expect((await stop.evaluateInFrame(frame, "people")).values).to.deep.equal(["0"]);
    await stop.abort();
  });

  it("serves other requests while a thread is stopped", async () => {
    const { stop } = await stopped('(error "wait")');
    expect(await client.eval("(+ 1 2)")).to.deep.equal(["3"]);
    await stop.abort();
  });

  it("invokes a restart with a value", async () => {
    const { evaluation, stop } = await stopped('(+ 1 (restart-case (error "boom") (use-zero () 0) (use-that (v) v)))');
    expect(stop.restarts.map(({ name }) => name)).to.deep.equal(["USE-ZERO", "USE-THAT", "ABORT", "RETRY"]);
    await stop.invokeRestart(1, ["(+ 40 1)"]);
    const outcome = await evaluation.next({ timeout: SOON });
    expect(outcome.status === "returned" && outcome.values).to.deep.equal(["42"]);
  });

  it("offers RETRY, and restarts outside of the code's own ABORT", async () => {
    const inner = '(restart-case (restart-case (error "x") (abort () 1)) (use-value (v) v))';
    const { stop } = await stopped(inner);
    expect(stop.restarts.map(({ name }) => name)).to.deep.equal(["ABORT", "USE-VALUE", "ABORT", "RETRY"]);
    await stop.abort();
    await client.eval("(defparameter *tries* 0)");
    const { evaluation, stop: failed } = await stopped('(if (= 1 (incf *tries*)) (error "z") *tries*)');
    expect(failed.restarts.map(({ name }) => name)).to.deep.equal(["ABORT", "RETRY"]);
    await failed.invokeRestart(1);
    const outcome = await evaluation.next({ timeout: SOON });
    expect(outcome.status === "returned" && outcome.values).to.deep.equal(["2"]);
  });

  it("keeps the stop when a restart gets the wrong number of values", async () => {
    const { evaluation, stop } = await stopped('(restart-case (error "x") (use-value (v) v) (continue () 0))');
    await rejection(stop.invokeRestart(0), "INVALID_ARGUMENT");
    await rejection(stop.invokeRestart(0, ["1", "2"]), "INVALID_ARGUMENT");
    await rejection(stop.invokeRestart(1, ["1"]), "INVALID_ARGUMENT");
    expect(client.stops).to.deep.equal([stop]);
    await stop.invokeRestart(0, ["5"]);
    const outcome = await evaluation.next({ timeout: SOON });
    expect(outcome.status === "returned" && outcome.values).to.deep.equal(["5"]);
  });

  it("continues from a break", async () => {
    const { evaluation, stop } = await stopped('(list (break "here") 2)');
    expect(stop.reason).to.equal("break");
    await stop.continue();
    expect(await evaluation.next({ timeout: SOON })).to.have.property("status", "returned");
  });

  it("unwinds an error without a stop, and keeps the stack of it", async () => {
    const error = await rejection(client.eval("(halve 3)"), "LISP_ERROR");
    expect(error.message).to.include("Operation was (/ 6 0).");
  });

  it("unwinds a break without a stop, in the code and in a frame", async () => {
    await rejection(client.eval('(break "here")'), "LISP_ERROR");
    const { stop } = await stopped('(error "wait")');
    await rejection(stop.evaluateInFrame(0, '(break "here")'), "FRAME_EVALUATION_FAILED");
    expect(stop).to.include({ isLive: true, level: 1 });
    await stop.abort();
  });

  it("stops running code at its timeout, and ends it", async () => {
    const { evaluation, stop } = await stoppedAtTimeout();
    expect(stop.reason).to.equal("interrupt");
    expect(await evaluation.abort()).to.have.property("status", "aborted");
  });

  async function stoppedAtTimeout() {
    const evaluation = client.evaluate("(loop (sleep 0.02))", { timeout: 300 });
    const outcome = await evaluation.next({ timeout: SOON });
    if (outcome.status !== "stopped") throw new Error(JSON.stringify(outcome));
    return { evaluation, stop: outcome.stop };
  }

  it("aborts running code", async () => {
    const evaluation = client.evaluate("(loop (sleep 0.02))");
    await evaluation.begun({ timeout: SOON });
    expect(await evaluation.abort()).to.have.property("status", "aborted");
  });

  it("lets aborted code clean up", async () => {
    await client.eval("(defparameter *cleaned-up* nil)");
    const evaluation = client.evaluate("(unwind-protect (sleep 100) (sleep 0.6) (setf *cleaned-up* t))");
    await evaluation.begun({ timeout: SOON });
    expect(await evaluation.abort()).to.have.property("status", "aborted");
    expect(await client.eval("*cleaned-up*")).to.deep.equal(["T"]);
  });

  it("describes names, finds them, completes them and expands macros", async () => {
    expect(await client.describeSymbol("halve")).to.include({ status: "found", name: "COMMON-LISP-USER::HALVE" });
    const found = await client.code.apropos("halv");
    expect(found.status === "found" && found.names.map(({ name }) => name)).to.include("COMMON-LISP-USER::HALVE");
    expect(await client.completions("multiple-value-b", "CL-USER")).to.include("multiple-value-bind");
    const expanded = await client.code.macroexpand("(when a b)");
    expect(expanded.status === "expanded" && expanded.forms[0]?.text).to.equal("(if a (progn b))");
  });

  it("reports what the compiler says, and loads the code", async () => {
    const code = '(defun compiled-here (x y) (list "λ" (car x)))';
    const compiled = await client.code.compile({ code }, { load: true });
    expect(compiled).to.include({ status: "compiled", failed: false, loaded: true });
    expect(compiled.status === "compiled" && compiled.notes).to.deep.equal([
      { severity: "style-warning", message: "The variable Y is not used." },
    ]);
    expect(await client.eval("(compiled-here '(7) 1)")).to.deep.equal(['("λ" 7)']);
  });

  it("compiles in a folder that only its user can read, and leaves nothing behind", async () => {
    const code = "(eval-when (:load-toplevel) (defparameter *compiled-in* *load-truename*))";
    await client.code.compile({ code }, { load: true });
    const [folder = ""] = await client.eval("(namestring (make-pathname :name nil :type nil :defaults *compiled-in*))");
    expect(folder).to.match(/\/swank-client-[0-9a-z]{20,}\/"$/);
    expect(
      await client.eval(
        '(directory (merge-pathnames "*.*" (make-pathname :name nil :type nil :defaults *compiled-in*)))',
      ),
    ).to.deep.equal(["NIL"]);
  });

  it("reports errors that the compiler finds, which are no errors in Lisp", async () => {
    const compiled = await client.code.compile({ code: "(defun f (x) (car 1 2))" });
    if (compiled.status !== "compiled") throw new Error(compiled.status);
    expect(compiled.failed).to.equal(true);
    const notes = compiled.notes.map(({ severity, message }) => [severity, message]);
    expect(notes).to.deep.include(["error", "Wrong number of arguments for function CAR"]);
    expect(notes).to.deep.include(["style-warning", "The variable X is not used."]);
  });

  it("resets the session, whose definitions stay", async () => {
    await client.eval('(defpackage "RESET-TEST" (:use "CL")) (in-package "RESET-TEST") (defun kept () 1)');
    const { evaluation } = await stopped('(error "wait")');
    expect(await client.reset()).to.deep.equal({
      undefined: [],
      left: [],
      loaded: [],
      package: "COMMON-LISP-USER",
      aborted: 1,
      stillRunning: 0,
    });
    expect(await evaluation.next({ timeout: SOON })).to.have.property("status", "aborted");
    expect(await client.eval("(list (package-name *package*) (reset-test::kept) *)")).to.deep.equal([
      '("COMMON-LISP-USER" 1 NIL)',
    ]);
  });

  it("keeps a client's code from ending the image, until the client has gone", async () => {
    await client.eval("(defvar *own-quit* (fdefinition 'ext:quit))");
    const agent = await connect({ port: image.port, secret: false, timeout: SOON, mayEndImage: false });
    const error = await rejection(agent.eval("(ext:quit 3)"), "LISP_ERROR");
    expect(error.message).to.include("QUIT is refused: it would end the image for all its clients.");
    await rejection(agent.eval("(ext:exit 3)"), "LISP_ERROR");
    const loaded = await agent.code.compile({ code: "(ext:quit 3)" }, { load: true });
    expect(loaded).to.have.property("loadError").that.has.property("type", "EXIT-REFUSED");
    await agent.close();
    const restored = "(loop repeat 500 thereis (eq *own-quit* (fdefinition 'ext:quit)) do (sleep 0.02))";
    expect(await client.eval(restored)).to.deep.equal(["T"]);
  });

  it("lists threads, and knows its own evaluations among them", async () => {
    const { evaluation, stop } = await stopped('(error "wait")');
    const { threads } = await client.program.threads();
    expect(threads.find(({ id }) => id === stop.thread)).to.include({ evaluation: evaluation.id, level: 1 });
    await stop.abort();
  });

  it("says that a thread runs again after its stop, and calls the program's own threads so", async () => {
    const { evaluation, stop } = await stopped('(progn (cerror "Go on." "wait") (sleep 100))');
    await stop.continue();
    await client.eval('(mp:process-run-function "my-worker-pool" (lambda () (sleep 100)))');
    await client.eval("(mp:process-enable (mp:process-preset (mp:make-process :name '(1)) (lambda () (sleep 100))))");
    const { threads } = await client.program.threads();
    expect(threads.find(({ id }) => id === stop.thread)).to.include({ evaluation: evaluation.id, level: 0 });
    expect(threads.find(({ name }) => name === "my-worker-pool")).to.include({ whose: "program" });
    expect(threads.map(({ name }) => name)).to.include("(1)");
    await evaluation.abort();
  });

  it("aborts the level that a missing feature enters, and does not ask for that feature again", async () => {
    const other = await connect({ port: image.port, secret: false, timeout: SOON });
    const evaluation = other.evaluate('(error "here")');
    const outcome = await evaluation.next({ timeout: SOON });
    if (outcome.status !== "stopped") throw new Error(JSON.stringify(outcome));
    const { stop } = outcome;
    expect(other.abilities.has("locals")).to.equal(true);
    const missing = lispFunction({
      name: "swank:restart-frame",
      ability: "locals",
      where: "stopped-thread",
      encode: () => [0],
      decode: decode.any,
    });
    const error = await rejection(stop.run(missing), "NOT_SUPPORTED");
    expect(error.message).to.match(/^swank:restart-frame: ECL \S+ cannot do this \(locals\)\. .*not implemented/);
    expect(other.abilities.missing).to.include("locals");
    await rejection(stop.frameLocals(0), "NOT_SUPPORTED");
    expect(stop).to.include({ isLive: true, level: 1 });
    expect(other.stops).to.deep.equal([stop]);
    await stop.abort();
    await other.close();
  });

  it("loses nothing by errors of the user's code, nor what the handshake has told", async () => {
    await client.eval('(defmacro breaking () (break "in a macro"))');
    const broken = await rejection(client.code.macroexpand("(breaking)"), "REQUEST_FAILED");
    expect(broken.message).to.include("in a macro");
    expect(client.abilities.has("describe")).to.equal(true);
    for (const ability of ["threads", "interrupt", "restarts", "evaluate"] as const) {
      const missing = lispFunction({
        name: "swank/backend:restart-frame",
        ability,
        encode: () => [0],
        decode: decode.any,
      });
      expect((await rejection(client.run(missing), "REQUEST_FAILED")).message).to.include("not implemented");
      expect(client.abilities.has(ability)).to.equal(true);
    }
    expect(client.stops).to.deep.equal([]);
    expect(await client.eval("(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("lists a thread whose name cannot be printed", async () => {
    await client.eval(`(defclass unprintable () ())
      (defmethod print-object ((object unprintable) stream) (error "no name"))
      (defvar *done* nil)
      (mp:process-run-function (make-instance 'unprintable) (lambda () (loop until *done* do (sleep 0.01))))`);
    const { threads } = await client.program.threads();
    expect(threads.map(({ name }) => name)).to.include("<error printing the name>");
    await client.eval("(setf *done* t)");
  });

  it("says what ECL cannot do", async () => {
    const { stop } = await stopped('(error "here")');
    for (const [attempt, ability] of [
      [() => stop.restartFrame(0), "restart-frame"],
      [() => stop.returnFromFrame(0, "1"), "return-from-frame"],
      [() => stop.step("into"), "stepping"],
      [() => client.code.findReferences("halve", "callers"), "xref"],
      [() => client.breakpoints.set("halve"), "runtime"],
    ] as const) {
      const { details, remedy } = await rejection(attempt(), "NOT_SUPPORTED");
      expect(details).to.have.property("ability", ability);
      expect(remedy).to.be.a("string").and.not.equal("");
    }
    await stop.abort();
  });
});
