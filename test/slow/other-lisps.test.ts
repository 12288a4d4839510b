import { expect } from "chai";
import { connect, type SwankClient } from "swank-client";
import { rejection } from "../support/caught.js";
import { type OtherImage, startOtherLisp } from "../support/other-lisps.js";

/** Milliseconds for what a busy machine does in a moment. */
const SOON = 30_000;

describe("A client of an ECL whose Swank is compiled as for its users", () => {
  it("reports an error with the user's frames and their variables, and evaluates in them", async () => {
    const image = await startOtherLisp("ecl", true);
    const client = await connect({ port: image.port, secret: false, timeout: SOON });
    await client.eval("(defun halve (x) (let ((y (* 2 x))) (/ y 0)))");
    const evaluation = client.evaluate("(halve 21)");
    const outcome = await evaluation.next({ timeout: SOON });
    if (outcome.status !== "stopped") throw new Error(JSON.stringify(outcome));
    const { condition, locals } = outcome.stop.data;
    expect(condition.message).to.include("Operation was (/ 42 0).");
    const frame = condition.frames.find(({ kind }) => kind === "user");
    expect(frame?.call).to.equal("(HALVE)");
    expect(locals.map(({ name, value }) => [name, value])).to.deep.equal([
      ["X", "21"],
      ["Y", "42"],
    ]);
    expect((await outcome.stop.evaluateInFrame(frame?.index ?? -1, "(list x y)")).values).to.deep.equal(["(21 42)"]);
    expect(await evaluation.abort()).to.have.property("status", "aborted");
    await client.close();
    await image.stop();
  });
});

// The first start of each compiles Swank, which takes up to two minutes. Both are programs of Debian's packages with these names.
describe("A client of ABCL", () => {
  let image: OtherImage;
  let client: SwankClient;

  before(async () => {
    image = await startOtherLisp("abcl");
    client = await connect({ port: image.port, secret: false, timeout: SOON, mayEndImage: false });
  });

  after(async () => {
    await client.close();
    await image.stop();
  });

  it("evaluates, and reports an error with the caller's arguments and without Java's frames", async () => {
    expect(await client.eval("(defun halve (x) (/ x 0)) (+ 1 2)")).to.deep.equal(["3"]);
    const evaluation = client.evaluate("(halve 21)");
    const outcome = await evaluation.next({ timeout: SOON });
    if (outcome.status !== "stopped") throw new Error(JSON.stringify(outcome));
    const { condition, locals } = outcome.stop.data;
    expect(condition.message).to.include("Operation was (/ 21 0).");
    expect(condition.frames.filter(({ kind }) => kind === "user").map(({ call }) => call)).to.deep.equal([
      "(HALVE 21)",
    ]);
    expect(locals).to.deep.equal([{ name: "X", value: "21", marks: [] }]);
    const error = await rejection(outcome.stop.evaluateInFrame(0, "1"), "NOT_SUPPORTED");
    expect(error.details).to.include({ ability: "eval-in-frame" });
    expect(await evaluation.abort()).to.have.property("status", "aborted");
  });

  it("offers the restarts of SBCL, and unwinds a break without a stop", async () => {
    await rejection(client.eval('(break "here")'), "LISP_ERROR");
    const evaluation = client.evaluate('(error "z")');
    const outcome = await evaluation.next({ timeout: SOON });
    if (outcome.status !== "stopped") throw new Error(JSON.stringify(outcome));
    expect(outcome.stop.restarts.map(({ name }) => name)).to.deep.equal(["ABORT", "RETRY"]);
    expect(await evaluation.abort()).to.have.property("status", "aborted");
  });

  it("cannot end the image", async () => {
    for (const code of ["(ext:quit)", "(ext:exit)"])
      expect((await rejection(client.eval(code), "LISP_ERROR")).message).to.include(
        "is refused: it would end the image",
      );
  });

  it("reports what the compiler says, also what ABCL only prints", async () => {
    const code = '(defun compiled-here (x) (list "λ" (not-there) (car x)))';
    const compiled = await client.code.compile({ code }, { load: true });
    expect(compiled).to.include({ status: "compiled", failed: false, loaded: true });
    expect(compiled.status === "compiled" && compiled.notes).to.deep.equal([
      { severity: "style-warning", message: "The following functions were used but not defined: NOT-THERE" },
    ]);
    expect(await client.eval("(defun not-there () 1) (compiled-here '(7))")).to.deep.equal(['("λ" 1 7)']);
    const wrong = await client.code.compile({ code: "(defun g (x) (car 1 2))" });
    if (wrong.status !== "compiled") throw new Error(wrong.status);
    const notes = wrong.notes.map(({ severity, message }) => [severity, message]);
    expect(notes).to.deep.equal([
      ["warning", "Wrong number of arguments for CAR (expected 1, but received 2)."],
      ["style-warning", "The variable X is defined but never used."],
    ]);
  });

  it("stops running code at its timeout, and ends it", async () => {
    const evaluation = client.evaluate("(loop (sleep 0.02))", { timeout: 500 });
    expect(await evaluation.next({ timeout: SOON })).to.have.property("status", "stopped");
    expect(await evaluation.abort()).to.have.property("status", "aborted");
  });
});

describe("A client of CLISP", () => {
  let image: OtherImage;
  let client: SwankClient;

  before(async () => {
    image = await startOtherLisp("clisp");
    client = await connect({ port: image.port, secret: false, timeout: SOON, mayEndImage: false });
  });

  after(async () => {
    await client.close();
    await image.stop();
  });

  it("is told that there are no threads", () => {
    expect(client.notes.join("\n")).to.match(/^CLISP \S+ has no threads: it serves one request at a time/);
    expect(client.abilities.missing).to.include.members(["threads", "interrupt"]);
  });

  it("cannot end the image", async () => {
    for (const code of ["(ext:quit)", "(ext:exit)"])
      expect((await rejection(client.eval(code), "LISP_ERROR")).message).to.include(
        "is refused: it would end the image",
      );
  });

  it("reports what the compiler says, and loads the code", async () => {
    const code = '(defun compiled-here (x y) (list "λ" not-there (car x)))';
    const compiled = await client.code.compile({ code }, { load: true });
    expect(compiled).to.include({ status: "compiled", failed: false, loaded: true });
    const notes = compiled.status === "compiled" ? compiled.notes : [];
    expect(notes.map(({ severity }) => severity)).to.deep.equal(["warning", "style-warning"]);
    expect(notes[0]?.message).to.include("NOT-THERE");
    expect(
      await client.eval("(let ((not-there 1)) (declare (special not-there)) (compiled-here '(7) 2))"),
    ).to.deep.equal(['("λ" 1 7)']);
  });

  it("evaluates one after another", async () => {
    const both = Promise.all([client.eval("(progn (sleep 0.5) 1)"), client.eval("2")]);
    expect(await both).to.deep.equal([["1"], ["2"]]);
  });

  it("refuses evaluations while the only thread is stopped, and evaluates in its frames", async () => {
    await client.eval("(defun halve (x) (/ x 0))");
    const evaluation = client.evaluate("(halve 21)");
    const outcome = await evaluation.next({ timeout: SOON });
    if (outcome.status !== "stopped") throw new Error(JSON.stringify(outcome));
    const refused = await rejection(client.evaluate("1").next({ timeout: SOON }), "NOT_SUPPORTED");
    expect(refused.remedy).to.equal("Resume or abort the stop, or evaluate in one of its frames.");
    const { index = -1 } = outcome.stop.condition.frames.find(({ kind }) => kind === "user") ?? {};
    expect((await outcome.stop.evaluateInFrame(index, "(list x)")).values).to.deep.equal(["(21)"]);
    expect(await outcome.stop.evaluateInFrame(index, "(setf x 22)")).to.deep.include({ values: ["22"], set: ["X"] });
    expect((await outcome.stop.evaluateInFrame(index, "x")).values).to.deep.equal(["22"]);
    expect(await evaluation.abort()).to.have.property("status", "aborted");
    expect(await client.eval("3")).to.deep.equal(["3"]);
  });

  it("offers the restarts of SBCL, and stops at a break or unwinds it", async () => {
    await rejection(client.eval('(break "here")'), "LISP_ERROR");
    const evaluation = client.evaluate('(list (break "here") 2)');
    const outcome = await evaluation.next({ timeout: SOON });
    if (outcome.status !== "stopped") throw new Error(JSON.stringify(outcome));
    expect(outcome.stop.restarts.map(({ name }) => name)).to.deep.equal(["CONTINUE", "ABORT", "RETRY"]);
    await outcome.stop.continue();
    const returned = await evaluation.next({ timeout: SOON });
    expect(returned.status === "returned" && returned.values).to.deep.equal(["(NIL 2)"]);
  });

  it("closes the connection when code takes longer than it may, and says why", async () => {
    const other = client.evaluate("(sleep 5)", { timeout: 500 });
    const outcome = await other.next({ timeout: SOON });
    expect(outcome).to.have.property("status", "lost");
    expect(outcome.status === "lost" && outcome.cause).to.include({ code: "NOT_SUPPORTED" });
    expect(client.isOpen).to.equal(false);
    // When the code has ended, its image serves the next client.
    const next = await connect({ port: image.port, secret: false, timeout: SOON });
    expect(await next.eval("(+ 1 2)")).to.deep.equal(["3"]);
    await next.close();
  });
});
