import { expect } from "chai";
import type { Evaluation, Stop, types } from "swank-client";
import { liveClient } from "./live-image.js";
import { aborted, returned, stopped } from "./outcomes.js";

/** Of restarts that take no values, and of those that take exactly one. */
const NONE = { min: 0, max: 0 };
const ONE = { min: 1, max: 1 };

function indexOf(session: Stop, name: string): number {
  const index = session.restarts.findIndex((restart) => restart.name === name);
  if (index < 0) throw new Error(`There is no restart ${name}.`);
  return index;
}

/** What a refused call says. */
async function refusal(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => "not refused",
    (error: unknown) => error,
  );
}

describe("Stop.invokeRestart: restarts", () => {
  const image = liveClient();

  async function stopIn(code: string): Promise<{ evaluation: Evaluation; stop: types.Stopped; session: Stop }> {
    const evaluation = image.client.evaluate(code);
    const stop = stopped(await evaluation.next());
    return { evaluation, stop, session: stop.stop };
  }

  it("are the code's own, then ABORT and RETRY, without Swank's", async () => {
    const { evaluation, session } = await stopIn(
      '(restart-case (with-simple-restart (skip "Skip ~d" 1) (error "x")) (nil () :report "nameless") (go-on (a) a))',
    );
    expect(session.restarts).to.deep.equal([
      { index: 0, name: "SKIP", description: "Skip 1", arguments: NONE },
      { index: 1, name: "", description: "nameless", arguments: NONE },
      { index: 2, name: "GO-ON", description: "GO-ON", arguments: ONE },
      { index: 3, name: "ABORT", description: "Return to top level", arguments: NONE },
      { index: 4, name: "RETRY", description: "Evaluate form 1 again, repeating its side effects", arguments: NONE },
    ]);
    await session.invokeRestart(0);
    expect(returned(await evaluation.next()).values).to.deep.equal(["NIL", "T"]);
  });

  it("say how many values they take, if Lisp knows that", async () => {
    const { evaluation, session } = await stopIn(`
      (restart-bind ((any (lambda (&rest all) all))
                     (some (lambda (a &optional b) (list a b)))
                     (asking (lambda (&optional a) a) :interactive-function (lambda () (list 1))))
        (restart-case (error "x") (clause (a b) (list a b))))`);
    const known = Object.fromEntries(session.restarts.map(({ name, arguments: range }) => [name, range]));
    expect(known).to.deep.equal({
      CLAUSE: { min: 2, max: 2 },
      ANY: { min: 0, max: undefined },
      SOME: { min: 1, max: 2 },
      ASKING: ONE,
      ABORT: NONE,
      RETRY: NONE,
    });
    await evaluation.abort();
    const other = await stopIn("(list unbound-3)");
    const standard = other.session.restarts.map(({ name, arguments: range }) => [name, range?.min, range?.max]);
    expect(standard.slice(0, 3)).to.deep.equal([
      ["CONTINUE", 0, 0],
      ["USE-VALUE", 1, 1],
      ["STORE-VALUE", 1, 1],
    ]);
    await other.evaluation.abort();
  });

  it("that fail to print are still offered", async () => {
    const { evaluation, session } = await stopIn(
      '(restart-case (error "x") (odd () :report (lambda (s) (declare (ignore s)) (error "no")) 5))',
    );
    expect(session.restarts[0]).to.include({ name: "ODD", description: "<<error printing restart>>" });
    await session.invokeRestart(0);
    expect(returned(await evaluation.next()).values).to.deep.equal(["5"]);
  });

  it("are described with long lists cut and the rest whole", async () => {
    const { evaluation, session } = await stopIn(
      `(let ((long (loop for n below 1000 collect n)))
         (restart-case (error "x")
           (skip () :report (lambda (s) (format s "Skip ~s of ~s and go on" long (vector long long))) (length long))))`,
    );
    const list = "(0 1 2 3 4 5 6 7 ...)";
    expect(session.restarts[0]?.description).to.equal(`Skip ${list} of #(${list} ${list}) and go on`);
    await session.invokeRestart(0);
    expect(returned(await evaluation.next()).values).to.deep.equal(["1000"]);
  });

  it("ABORT ends the evaluation without an error", async () => {
    const { evaluation, session } = await stopIn('(error "x")');
    await session.invokeRestart(indexOf(session, "ABORT"));
    expect(aborted(await evaluation.next())).not.to.have.property("error");
    expect(image.client.stops).to.deep.equal([]);
  });

  it("RETRY evaluates the form again with the new definitions, and the original evaluation returns its value", async () => {
    const { evaluation, session } = await stopIn(
      '(defvar *n* 0) (incf *n*) (defun r-f (x) (/ x 0)) (princ "once") (list (r-f 6) *n*)',
    );
    expect(session.restarts.at(-1)?.description).to.equal("Evaluate form 5 again, repeating its side effects");
    await session.invokeRestart(indexOf(session, "RETRY"));
    const again = stopped(await evaluation.next());
    expect(again.stop.condition.type).to.equal("DIVISION-BY-ZERO");
    await image.values("(defun r-f (x) (* x 7))");
    await again.stop.invokeRestart(indexOf(again.stop, "RETRY"));
    expect(returned(await evaluation.next())).to.deep.include({ values: ["(42 1)"], stdout: "" });
  });

  it("take values as Lisp expressions in the package of the code", async () => {
    await image.values('(defpackage "R" (:use "CL"))');
    const { evaluation, session } = await stopIn(
      '(in-package "R") (defun val (x) (* 2 x)) (restart-case (error "x") (use (a &optional b) (list a b)))',
    );
    await session.invokeRestart(0, ["(val 21)", "'val"]);
    expect(returned(await evaluation.next()).values).to.deep.equal(["(42 VAL)"]);
  });

  it("of the standard take values, too", async () => {
    for (const [code, name, value, result] of [
      ["(1+ unbound-1)", "USE-VALUE", "41", "42"],
      ["(list (1+ unbound-2) unbound-2)", "STORE-VALUE", "41", "(42 41)"],
      ["(list (undefined-1 1))", "RETURN-VALUE", "42", "(42)"],
      ['(check-type-1 "x")', "STORE-VALUE", "5", "5"],
    ] as const) {
      await image.values("(defun check-type-1 (x) (check-type x integer) x)");
      const { evaluation, session } = await stopIn(code);
      await session.invokeRestart(indexOf(session, name), [value]);
      expect(returned(await evaluation.next()).values, code).to.deep.equal([result]);
    }
  });

  it("CONTINUE of an undefined function calls it once it is defined", async () => {
    const { evaluation, session } = await stopIn("(list (undefined-2 1))");
    await image.values("(defun undefined-2 (x) (+ x 41))");
    await session.invokeRestart(indexOf(session, "CONTINUE"));
    expect(returned(await evaluation.next()).values).to.deep.equal(["(42)"]);
  });

  it("of an undefined function that a form before has called take a function to call instead", async () => {
    const { evaluation, session } = await stopIn("(list (undefined-3 1) (undefined-3 2))");
    expect(session.condition.frames[0]?.call).to.equal("(UNDEFINED-3 1)");
    await session.invokeRestart(indexOf(session, "RETURN-VALUE"), ["42"]);
    const { stop: again } = stopped(await evaluation.next());
    // SBCL's evaluator looks up the function
    expect(again.condition.frames[0]?.call).to.match(/^\(\S+ UNDEFINED-3\)$/);
    expect(again.restarts.map(({ name }) => name)).not.to.include("RETURN-VALUE");
    await again.invokeRestart(indexOf(again, "USE-VALUE"), ["(constantly 43)"]);
    expect(returned(await evaluation.next()).values).to.deep.equal(["(42 43)"]);
  });

  it("of an undefined function leave its declared type and the form as they are", async () => {
    await image.values(`(declaim (ftype (function (integer) integer) declared-5 declared-6))
       (defun declared-6 (n) (declared-5 n))
       (defmacro quoted-5 (x) (list 'quote x))`);
    const { evaluation } = await stopIn("(declared-5 1)");
    await evaluation.abort();
    await image.values("(defun declared-5 (n) n)");
    const { session, evaluation: checked } = await stopIn('(declared-5 "x")');
    expect(session.condition.type).to.equal("TYPE-ERROR");
    await checked.abort();
    expect(await image.values("(first (quoted-5 #1=(1 2 . #1#)))")).to.deep.equal(["1"]);
  });

  it("that do not exist are refused without asking the image", async () => {
    const { evaluation, session } = await stopIn('(error "x")');
    const before = image.client.connection.nextId();
    for (const index of [-1, 2, 99, 0.5, Number.NaN])
      expect(await refusal(session.invokeRestart(index)), String(index)).to.include({ code: "NO_SUCH_RESTART" });
    expect(image.client.connection.nextId()).to.equal(before + 1);
    expect(session.isLive).to.equal(true);
    await evaluation.abort();
  });

  it("refuse null, strings and objects as indexes and ids from untyped callers", async () => {
    const { evaluation, session } = await stopIn('(error "x")');
    const before = image.client.connection.nextId();
    const code = (given: unknown) => Reflect.get(Object(given), "code");
    for (const index of [null, "0", [0], { toString: () => "0" }, "length", true]) {
      const calls: [string, string, () => Promise<unknown>][] = [
        ["invokeRestart", "NO_SUCH_RESTART", () => Reflect.apply(session.invokeRestart, session, [index])],
        ["frames", "INVALID_ARGUMENT", () => Reflect.apply(session.frames, session, [index])],
        ["frameLocals", "INVALID_ARGUMENT", () => Reflect.apply(session.frameLocals, session, [index])],
        ["evaluateInFrame", "INVALID_ARGUMENT", () => Reflect.apply(session.evaluateInFrame, session, [index, "1"])],
        ["hasThread", "INVALID_ARGUMENT", () => Reflect.apply(image.client.hasThread, image.client, [index])],
        [
          "remove",
          "INVALID_ARGUMENT",
          () => Reflect.apply(image.client.breakpoints.remove, image.client.breakpoints, [index]),
        ],
        ["step", "INVALID_ARGUMENT", () => Reflect.apply(session.step, session, [index])],
        [
          "set",
          "INVALID_ARGUMENT",
          () => Reflect.apply(image.client.breakpoints.set, image.client.breakpoints, ["car", { thread: index }]),
        ],
      ];
      for (const [name, expected, call] of calls)
        expect(code(await refusal(call())), `${name} ${JSON.stringify(index)}`).to.equal(expected);
    }
    expect(image.client.connection.nextId()).to.equal(before + 1);
    expect(session.isLive).to.equal(true);
    await evaluation.abort();
  });

  it("keep the stop if a value cannot be evaluated or there is one too many", async () => {
    const { evaluation, session } = await stopIn('(restart-case (error "x") (use (a) a) (none () :none))');
    for (const [index, sources, message] of [
      [0, ["(car 5)"], /could not be evaluated/],
      [0, ["(unbalanced"], /could not be evaluated/],
      [0, ["nosuch::x"], /could not be evaluated/],
      [0, ["(labels ((f () (1+ (f)))) (f))"], /could not be evaluated/],
      [0, [], /takes 1 value\./],
      [0, ["1", "2"], /takes 1 value\./],
      [1, ["1"], /takes no values\./],
    ] as const) {
      const error = await refusal(session.invokeRestart(index, sources));
      expect(error, String(sources)).to.include({ code: "INVALID_ARGUMENT" });
      expect(String(error)).to.match(message);
      expect(session).to.include({ isLive: true, level: 1 });
    }
    await session.invokeRestart(0, ["(+ 40 2)"]);
    expect(returned(await evaluation.next()).values).to.deep.equal(["42"]);
  });

  it("fail after the end of the stop without asking the image, as all requests do", async () => {
    const { evaluation, session } = await stopIn('(error "x")');
    await session.abort();
    aborted(await evaluation.next());
    const before = image.client.connection.nextId();
    for (const call of [
      () => session.invokeRestart(0),
      () => session.abort(),
      () => session.frames(),
      () => session.frameLocals(0),
      () => session.evaluateInFrame(0, "1"),
    ])
      expect(await refusal(call()), String(call)).to.include({ code: "STALE_SESSION" });
    expect(image.client.connection.nextId()).to.equal(before + 1);
    expect(session.ended.aborted).to.equal(true);
    expect(session.condition.message).to.equal("x");
  });

  it("take effect once if they are invoked twice simultaneously", async () => {
    const { evaluation, session } = await stopIn(
      '(let ((n 0)) (restart-case (error "x") (again () (incf n) (sleep 0.1) n)))',
    );
    const results = await Promise.all([
      session.invokeRestart(0),
      refusal(session.invokeRestart(0)),
      refusal(session.invokeRestart(0)),
    ]);
    expect(results).to.have.lengthOf(3);
    expect(returned(await evaluation.next()).values).to.deep.equal(["1"]);
  });

  it("that fail while they run are reported, and the stop is unchanged", async () => {
    const { evaluation, session } = await stopIn(
      '(restart-bind ((failing (lambda () (error "in the restart")))) (error "x"))',
    );
    expect(await refusal(session.invokeRestart(0))).to.include({ code: "REQUEST_FAILED" });
    expect(session).to.include({ isLive: true, level: 1 });
    aborted(await evaluation.abort());
  });

  it("that transfer no control do not change the stop", async () => {
    const { evaluation, session } = await stopIn(
      '(let ((n 0)) (restart-bind ((count (lambda () (incf n)))) (cerror "go on" "x")) n)',
    );
    const first = await refusal(session.invokeRestart(1));
    expect(session.isLive).to.equal(true);
    await session.invokeRestart(indexOf(session, "CONTINUE"));
    expect(returned(await evaluation.next()).values, String(first)).to.deep.equal(["1"]);
  });
});
