import { expect } from "chai";
import type { Stop, SwankClient, types } from "swank-client";
import { normalized } from "../../support/normalized.js";
import { LiveImage } from "./live-image.js";
import { nextStop } from "./next-stop.js";
import { values } from "./outcomes.js";

const DEFINITIONS = `(progn
  (declaim (optimize (debug 3)))
  (defun w-inner (x) (error "bad ~a" x))
  (defun w-outer (y) (list (w-inner y)))
  (defun w-fail () (sb-thread:make-thread (lambda () (restart-case (w-outer 42) (give () :given))) :name "elsewhere")))`;

/** Stops while it holds the compiler's lock, without which the runtime cannot be loaded. */
const STOP_WITH_LOCK = `(sb-thread:make-thread
  (lambda () (sb-thread:with-recursive-lock (sb-kernel::**world-lock**) (break "compiling"))))`;

describe("A client that evaluates nothing", function () {
  this.timeout(60_000);
  let image: LiveImage;
  beforeEach(async () => {
    image = new LiveImage();
    await image.start();
  });
  afterEach(() => image.stop());

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
