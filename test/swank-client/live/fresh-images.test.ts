import { expect } from "chai";
import type { Stop, SwankClient, types } from "swank-client";
import { normalized } from "../../support/normalized.js";
import { freshImage } from "./live-image.js";
import { nextStop } from "./next-stop.js";
import { evaluate, lost, stopped, values } from "./outcomes.js";

describe("First evaluation in an image that had no runtime", () => {
  const image = freshImage();

  it("stops before unwinding, with a full report", async () => {
    const client = await image.connect();
    const code = '(warn "early") (defun first-quotient (divisor) (list (/ 6 divisor))) (first-quotient 0)';
    const { stop, warnings } = stopped(await evaluate(client, code));
    expect(warnings.map(({ message }) => message)).to.deep.equal(["early"]);
    expect(stop.condition.type).to.equal("DIVISION-BY-ZERO");
    const frame = stop.condition.frames.find(({ call }) => call === "(FIRST-QUOTIENT 0)");
    expect(stop.restarts.map(({ name }) => name)).to.include.members(["ABORT", "RETRY"]);
    expect((await stop.evaluateInFrame(frame?.index ?? -1, "(1+ divisor)")).values).to.deep.equal(["1"]);
  });

  it("stops with a full report while its thread holds the compiler's lock", async () => {
    const client = await image.connect();
    const code = '(defun first-held (x) (sb-c::with-world-lock () (error "held by ~a" x))) (first-held 1)';
    const { stop } = stopped(await evaluate(client, code));
    expect(stop.condition.message).to.equal("held by 1");
    expect(stop.condition.frames.map(({ call }) => call)).to.include("(FIRST-HELD 1)");
    await stop.abort();
    expect(await values(client, "(funcall (compile nil '(lambda () 3)))")).to.deep.equal(["3"]);
  });

  for (const [how, code] of [
    ["itself", "(sb-ext:exit :abort t)"],
    ["through a function that calls EXIT by its address", '(require :asdf) (funcall (intern "QUIT" "UIOP"))'],
  ] as const)
    it(`cannot end the image ${how}`, async () => {
      const client = await image.connect({ mayEndImage: false });
      const { stop } = stopped(await evaluate(client, code));
      expect(stop.condition.class).to.match(/EXIT-REFUSED$/);
      await stop.abort();
      expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
    });

  it("of each of two clients that connect at once belongs to that client", async () => {
    const clients = await Promise.all([image.connect(), image.connect()]);
    const outcomes = await Promise.all(clients.map((client, index) => evaluate(client, `(error "of ${index}")`)));
    expect(outcomes.map((outcome) => stopped(outcome).stop.condition.message)).to.deep.equal(["of 0", "of 1"]);
    expect(clients.map(({ stops }) => stops.length)).to.deep.equal([1, 1]);
  });
});

/** Every test here is the end of its image. */
describe("End of an image", () => {
  const image = freshImage();
  let client: SwankClient;
  beforeEach(async () => {
    client = await image.connect();
  });

  for (const code of ["(sb-ext:exit)", "(sb-ext:exit :code 3)", "(sb-ext:exit :abort t)", "(exit :code 1 :timeout 1)"])
    it(`ends the evaluation that requested it: ${code}`, async () => {
      const evaluation = client.evaluate(`(princ "last words") ${code}`);
      const outcome = lost(await evaluation.next());
      expect(outcome.cause.code).to.equal("CONNECTION_LOST");
      if (!code.includes(":abort")) expect(outcome.stdout).to.equal("last words");
      expect(client.isOpen).to.equal(false);
      expect((await client.closed).code).to.equal("CONNECTION_LOST");
      lost(await evaluation.next());
      expect(await evaluation.interrupt()).to.equal(false);
      lost(await evaluation.abort());
    });

  it("while the runtime is still being loaded ends the evaluation as a loss, too", async () => {
    const evaluation = client.evaluate("(sleep 100)");
    image.swank.process.kill("SIGKILL");
    expect(lost(await evaluation.next()).cause.code).to.match(/^CONNECTION_/);
  });

  it("ends all evaluations, stops and requests", async () => {
    const running = client.evaluate("(loop)");
    const halted = client.evaluate('(error "x")');
    const { stop } = stopped(await halted.next());
    const waits = [
      running.next(),
      running.next({ timeout: 1e6 }),
      halted.next(),
      client.evaluate("(sleep 1000)").next(),
    ];
    const questions = [client.request([], { label: "nothing" }), stop.frames(), client.prepare()].map((question) =>
      question.then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
    await values(client, "1");
    image.swank.process.kill("SIGKILL");
    for (const outcome of await Promise.all(waits)) expect(lost(outcome).cause.code).to.match(/^CONNECTION_/);
    await Promise.all(questions);
    expect(stop.isLive).to.equal(false);
    expect(client.stops).to.deep.equal([]);
    expect(client.evaluations).to.deep.equal([]);
    expect(await stop.invokeRestart(0).catch((error: unknown) => error)).to.include({ code: "STALE_SESSION" });
    const late = await client
      .evaluate("1")
      .next()
      .catch((error: unknown) => error);
    expect(late).to.include({ code: "CONNECTION_LOST" });
    await client.close();
  });

  it("while evaluations are being aborted rejects or resolves every abort", async () => {
    const evaluations = [...Array(5).keys()].map(() => client.evaluate("(unwind-protect (loop) (loop))"));
    await values(client, "1");
    const aborts = Promise.allSettled(evaluations.map((evaluation) => evaluation.abort()));
    const closing = client.close();
    image.swank.process.kill("SIGKILL");
    await aborts;
    await closing;
    expect(client.evaluations).to.deep.equal([]);
  });

  it("by an exhausted heap is reported as a stop or a loss", async () => {
    const outcome = await evaluate(client, "(let ((all '())) (loop (push (make-array 1000000) all)))");
    expect(outcome.status).to.be.oneOf(["stopped", "lost"]);
  });

  it("in an exit hook that hangs is awaited", async () => {
    const evaluation = client.evaluate("(push (lambda () (sleep 0.3)) sb-ext:*exit-hooks*) (sb-ext:exit)");
    expect(lost(await evaluation.next()).cause.code).to.equal("CONNECTION_LOST");
  });
});

const DEFINITIONS = `(progn
  (declaim (optimize (debug 3)))
  (defun w-inner (x) (error "bad ~a" x))
  (defun w-outer (y) (list (w-inner y)))
  (defun w-fail () (sb-thread:make-thread (lambda () (restart-case (w-outer 42) (give () :given))) :name "elsewhere")))`;

/** Stops while it holds the compiler's lock, without which the runtime cannot be loaded. */
const STOP_WITH_LOCK = `(sb-thread:make-thread
  (lambda () (sb-thread:with-recursive-lock (sb-kernel::**world-lock**) (break "compiling"))))`;

describe("A client that evaluates nothing", () => {
  const image = freshImage();

  /** The stop of a thread that no client started. */
  async function stopOf(client: SwankClient, form: string): Promise<Stop> {
    const coming = nextStop(client);
    image.swank.type(form);
    return coming;
  }

  /** The same for every stop of one kind. */
  function comparable({ number, thread, condition, ...rest }: types.StopData): unknown {
    return JSON.parse(normalized(JSON.stringify({ ...rest, condition: { ...condition, timestamp: 0 } })));
  }

  it("sees a stop as completely as one that has evaluated", async () => {
    const watcher = await image.connect({ foreignErrors: "mine" });
    image.swank.type(DEFINITIONS);
    const first = await stopOf(watcher, "(w-fail)");
    expect(first.data).to.deep.include({ threadName: "elsewhere", isOwn: false, reason: "error" });
    expect(first.condition.supertypes).to.include.members(["SIMPLE-ERROR", "ERROR", "CONDITION"]);
    expect(first.restarts[0]).to.deep.include({ name: "GIVE", arguments: { min: 0, max: 0 } });
    const own = first.condition.frames.filter(({ kind }) => kind === "user").map(({ call }) => call);
    expect(own.slice(0, 2)).to.deep.equal(["(W-INNER 42)", "(W-OUTER 42)"]);
    expect(first.data.locals).to.deep.equal([{ name: "X", value: "42", marks: ["argument"] }]);
    expect((await first.frames(0, 1)).totalFrames).to.equal(first.condition.totalFrames);
    await first.invokeRestart(0);
    await values(watcher, "1");
    const second = await stopOf(watcher, "(w-fail)");
    expect(comparable(second.data)).to.deep.equal(comparable(first.data));
    await second.invokeRestart(0);
  });

  it("is told what Swank knows of a stop that keeps the runtime from being loaded", async () => {
    const watcher = await image.connect({ foreignErrors: "mine", cacheDir: false });
    const stop = await stopOf(watcher, STOP_WITH_LOCK);
    expect(stop.condition.message).to.equal("compiling");
    expect(stop.data.number).to.equal(undefined);
    await stop.abort();
    expect(await values(watcher, "(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("is told what Swank knows of a stop if it must not load the runtime", async () => {
    const watcher = await image.connect({ foreignErrors: "mine", runtime: false });
    image.swank.type(DEFINITIONS);
    const stop = await stopOf(watcher, "(w-fail)");
    expect(stop.condition).to.deep.include({ message: "bad 42", supertypes: [], slots: [] });
    expect(stop.data).to.deep.include({ number: undefined, locals: [] });
    expect(stop.restarts[0]).to.deep.equal({ index: 0, name: "GIVE", description: "GIVE" });
    expect(stop.condition.frames.map(({ call }) => call)).to.include("(W-INNER 42)");
    await stop.abort();
  });
});
