import { mock } from "node:test";
import { expect } from "chai";
import { SwankError } from "swank-client";
import { followEvaluation } from "swank-mcp";
import { returned, SILENT } from "../support/mcp-outcomes.js";
import { evaluation, settled, waitTimeout } from "../support/mcp-scripted.js";

const NEVER = new AbortController().signal;
const DONE = returned(["1"]);
const ABORTED = { ...SILENT, status: "aborted" } as const;

/** What `next` does when called for the first time, the second, ... */
function turns(...outcomes: readonly (typeof DONE | Error)[]) {
  const left = [...outcomes];
  return async () => {
    const outcome = left.shift() ?? new Error("next was called once more");
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
}

describe("following an evaluation", () => {
  it("gives the outcome that came in time", async () => {
    const followed = await followEvaluation(settled(DONE), { seconds: 1, signal: NEVER });
    expect(followed).to.deep.equal({ kind: "outcome", outcome: DONE });
  });

  it("waits as many seconds as it was told", async () => {
    const waited: unknown[] = [];
    const next = async (options: { timeout?: number | undefined } = {}) => {
      waited.push(options.timeout);
      return DONE;
    };
    await followEvaluation(evaluation({ next }), { seconds: 2.5, signal: NEVER });
    expect(waited).to.deep.equal([2500]);
  });

  it("interrupts what takes too long, and gives what came of that", async () => {
    const slow = evaluation({ next: turns(waitTimeout(), DONE), interrupt: async () => true });
    const followed = await followEvaluation(slow, { seconds: 3, signal: NEVER });
    expect(followed).to.deep.equal({ kind: "timed-out", seconds: 3, outcome: DONE });
  });

  it("interrupts when a person breaks in, and gives what came of that", async () => {
    const controller = new AbortController();
    let interrupted = false;
    const running = evaluation({
      next: async ({ signal } = {}) => {
        if (interrupted) return DONE;
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
        throw new SwankError("CANCELLED", "Nobody waits.");
      },
      interrupt: async () => {
        interrupted = true;
        return true;
      },
    });
    const followed = followEvaluation(running, { seconds: 3, signal: NEVER, interrupt: controller.signal });
    controller.abort();
    expect(await followed).to.deep.equal({ kind: "interrupted", outcome: DONE });
  });

  it("aborts what does not react to the interrupt", async () => {
    const deaf = evaluation({
      next: turns(waitTimeout(), waitTimeout()),
      interrupt: async () => true,
      abort: async () => ABORTED,
    });
    const followed = await followEvaluation(deaf, { seconds: 3, signal: NEVER });
    expect(followed).to.deep.equal({ kind: "timed-out", seconds: 3, outcome: ABORTED });
  });

  it("goes on when the interrupt cannot be sent", async () => {
    const broken = evaluation({
      next: turns(waitTimeout(), DONE),
      interrupt: () => Promise.reject(new Error("The connection is gone.")),
    });
    expect(await followEvaluation(broken, { seconds: 3, signal: NEVER })).to.include({ kind: "timed-out" });
  });

  it("names what could not be ended at all", async () => {
    const immortal = evaluation({
      thread: 9,
      next: turns(waitTimeout(), waitTimeout()),
      interrupt: async () => true,
      abort: () => Promise.reject(waitTimeout()),
      takeTranscript: () => ({ ...SILENT, stdout: "so far" }),
    });
    const followed = await followEvaluation(immortal, { seconds: 3, signal: NEVER });
    expect(followed).to.deep.equal({
      kind: "running",
      seconds: 3,
      thread: 9,
      transcript: { ...SILENT, stdout: "so far" },
    });
  });

  it("waits neither for an interrupt nor for an abort that never come back", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const silent = () => new Promise<never>(() => {});
      const lost = evaluation({ next: turns(waitTimeout(), waitTimeout()), interrupt: silent, abort: silent });
      const followed = followEvaluation(lost, { seconds: 3, signal: NEVER });
      for (let turn = 0; turn < 50; turn++) {
        mock.timers.tick(500);
        await Promise.resolve();
      }
      expect(await followed).to.deep.equal({ kind: "running", seconds: 3, thread: undefined, transcript: SILENT });
    } finally {
      mock.timers.reset();
    }
  });

  it("unwinds what nobody wants any more", async () => {
    const controller = new AbortController();
    let aborted = false;
    const running = evaluation({
      next: async () => {
        controller.abort();
        throw new Error("cancelled");
      },
      abort: async () => {
        aborted = true;
        return ABORTED;
      },
    });
    const followed = await followEvaluation(running, { seconds: 3, signal: controller.signal });
    expect(followed).to.deep.equal({ kind: "cancelled" });
    expect(aborted).to.equal(true);
  });

  it("passes on what else goes wrong", async () => {
    const refused = evaluation({ next: turns(new Error("There is no package X.")) });
    const error = await followEvaluation(refused, { seconds: 3, signal: NEVER }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.an("error").with.property("message", "There is no package X.");
  });
});
