import { expect } from "chai";
import { DEFINITION_KINDS, type Stop, type SwankClient, type types } from "swank-client";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { liveImage } from "./live-image.js";
import { nextStop } from "./next-stop.js";
import { stopped } from "./outcomes.js";

describe("Stop", () => {
  const image = liveImage();
  let client: SwankClient;
  beforeEach(async () => {
    client = await image.connect();
  });

  it("is the same object in the outcome, the evaluation, the client and its event", async () => {
    const told = nextStop(client);
    const evaluation = client.evaluate('(error "x")');
    const { stop } = stopped(await evaluation.next());
    expect(evaluation.stop).to.equal(stop);
    expect(client.stops[0]).to.equal(stop);
    expect(await told).to.equal(stop);
    expect(stop.evaluation).to.equal(evaluation);
    expect(await stop.open()).to.equal(stop);
    await evaluation.abort();
  });

  it("keeps plain JSON data, even after it has ended", async () => {
    const evaluation = client.evaluate('(defun f (n) (error "x ~d" n)) (f 7)');
    const { stop } = stopped(await evaluation.next());
    const before = JSON.stringify(stop.data);
    await evaluation.abort();
    expect(stop.isLive).to.equal(false);
    expect(JSON.stringify(stop.data)).to.equal(before);
    expect(JSON.parse(before).condition).to.deep.equal(stop.data.condition);
    expect(stop.data.locals).to.deep.equal([{ name: "N", value: "7", marks: ["argument"] }]);
  });

  it("has one signal, which is aborted when it ends, whether it was asked for before or after", async () => {
    const evaluation = client.evaluate('(list (restart-case (error "x") (use-it () 1)) (error "y"))');
    const { stop } = stopped(await evaluation.next());
    const { ended } = stop;
    expect([ended.aborted, stop.ended]).to.deep.equal([false, ended]);
    await stop.invokeRestart(0);
    expect(ended.aborted).to.equal(true);
    expect(ended.reason).to.have.property("message", "The thread left the stop, or the connection closed.");
    const { stop: second } = stopped(await evaluation.next());
    await evaluation.abort();
    expect(second.ended.aborted).to.equal(true);
    expect(second.ended.reason).to.equal(ended.reason);
  });

  it("runs descriptors in its thread until it ends", async () => {
    const evaluation = client.evaluate('(error "x")');
    const { stop } = stopped(await evaluation.next());
    expect(await stop.run(calls.debugging.backtrace, 0, 2)).to.have.length(2);
    await evaluation.abort();
    const error = await rejection(stop.run(calls.debugging.backtrace, 0, 2), "STALE_SESSION");
    expect(error.message).to.match(/^swank:backtrace: Thread \d+ has left the stop at level 1\.$/);
  });

  /** A way to each reason; the compiler wants them all. */
  const WAYS: Readonly<Record<types.StopReason, () => Promise<Stop>>> = {
    error: () => stopAt('(error "x")'),
    break: () => stopAt("(break)"),
    breakpoint: async () => {
      await client.evaluate("(defun broken-at (x) (list x))").next();
      await client.breakpoints.set("broken-at");
      return stopAt("(broken-at 1)");
    },
    step: async () => {
      const evaluation = client.evaluate("(defun stepped (x) (list (1+ x))) (break) (stepped 1)");
      const { stop } = stopped(await evaluation.next());
      await client.breakpoints.set("stepped");
      await stop.continue();
      await stopped(await evaluation.next()).stop.step("into");
      return stopped(await evaluation.next()).stop;
    },
    interrupt: async () => {
      const evaluation = client.evaluate("(loop (sleep 0.01))");
      await evaluation.interrupt();
      return stopped(await evaluation.next()).stop;
    },
  };

  async function stopAt(code: string): Promise<Stop> {
    return stopped(await client.evaluate(code).next()).stop;
  }

  for (const [reason, way] of Object.entries(WAYS)) {
    it(`has the reason ${reason} from Lisp`, async () => {
      expect((await way()).reason).to.equal(reason);
    });
  }

  it("has the same kinds of definitions in Lisp and in TypeScript", async () => {
    await client
      .evaluate(
        `(defpackage all-kinds) (defun k-function ()) (defgeneric k-generic (x)) (defmethod k-generic ((x integer)) x)
         (defmacro k-macro ()) (define-compiler-macro k-function () nil) (defsetf k-setf k-setter) (defvar k-variable 1)
         (defconstant k-constant 1) (define-symbol-macro k-symbol-macro 1) (defclass k-class () ()) (defstruct k-structure)
         (define-condition k-condition () ()) (deftype k-type () t) (define-method-combination k-combination)`,
      )
      .next();
    const { definitions } = await client.definitions();
    expect([...new Set(definitions.map(({ kind }) => kind))]).to.have.members([...DEFINITION_KINDS]);
  });
});
