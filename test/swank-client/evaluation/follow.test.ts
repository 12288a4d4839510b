import { mock } from "node:test";
import { expect } from "chai";
import { followEvaluation, SwankError } from "swank-client";
import { returned, SILENT } from "../../support/mcp-outcomes.js";
import { evaluation, settled, waitTimeout } from "../../support/mcp-scripted.js";

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

describe("followEvaluation", () => {
  it("returns an outcome that comes in time", async () => {
    const followed = await followEvaluation(settled(DONE), { timeout: 1000, signal: NEVER });
    expect(followed).to.deep.equal({ kind: "outcome", outcome: DONE });
  });

  it("waits for its timeout", async () => {
    const waited: unknown[] = [];
    const next = async (options: { timeout?: number | undefined } = {}) => {
      waited.push(options.timeout);
      return DONE;
    };
    await followEvaluation(evaluation({ next }), { timeout: 2500, signal: NEVER });
    expect(waited).to.deep.equal([2500]);
  });

  it("adds the time for which the evaluation waits for the user", async () => {
    const waited: unknown[] = [];
    let userWait = 100;
    const next = async (options: { timeout?: number | undefined } = {}) => {
      waited.push(options.timeout);
      if (waited.length === 3) return DONE;
      userWait += waited.length === 1 ? 700 : 200;
      throw waitTimeout();
    };
    const asking = Object.defineProperty(evaluation({ next }), "userWait", { get: () => userWait });
    const followed = await followEvaluation(asking, { timeout: 1000, signal: NEVER });
    expect(followed).to.deep.equal({ kind: "outcome", outcome: DONE });
    expect(waited).to.deep.equal([1000, 700, 200]);
  });

  it("interrupts an evaluation at the timeout and returns the outcome", async () => {
    const slow = evaluation({ next: turns(waitTimeout(), DONE), interrupt: async () => true });
    const followed = await followEvaluation(slow, { timeout: 3000, signal: NEVER });
    expect(followed).to.deep.equal({ kind: "timed-out", timeout: 3000, outcome: DONE });
  });

  it("interrupts an evaluation when the user asks for it and returns the outcome", async () => {
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
    const followed = followEvaluation(running, { timeout: 3000, signal: NEVER, interrupt: controller.signal });
    controller.abort();
    expect(await followed).to.deep.equal({ kind: "interrupted", outcome: DONE });
  });

  it("aborts an evaluation that ignores the interrupt", async () => {
    const deaf = evaluation({
      next: turns(waitTimeout(), waitTimeout()),
      interrupt: async () => true,
      abort: async () => ABORTED,
    });
    const followed = await followEvaluation(deaf, { timeout: 3000, signal: NEVER });
    expect(followed).to.deep.equal({ kind: "timed-out", timeout: 3000, outcome: ABORTED });
  });

  it("aborts an evaluation whose interrupt cannot be sent", async () => {
    const broken = evaluation({
      next: turns(waitTimeout(), DONE),
      interrupt: () => Promise.reject(new Error("The connection is gone.")),
    });
    expect(await followEvaluation(broken, { timeout: 3000, signal: NEVER })).to.include({
      kind: "timed-out",
      timeout: 3000,
    });
  });

  it("returns the thread of an evaluation that cannot be aborted", async () => {
    const immortal = evaluation({
      thread: 9,
      next: turns(waitTimeout(), waitTimeout()),
      interrupt: async () => true,
      abort: () => Promise.reject(waitTimeout()),
      takeTranscript: () => ({ ...SILENT, stdout: "so far" }),
    });
    const followed = await followEvaluation(immortal, { timeout: 3000, signal: NEVER });
    expect(followed).to.deep.equal({
      kind: "running",
      timeout: 3000,
      thread: 9,
      transcript: { ...SILENT, stdout: "so far" },
    });
  });

  it("gives up on an interrupt and an abort that never return", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const silent = () => new Promise<never>(() => {});
      const lost = evaluation({ next: turns(waitTimeout(), waitTimeout()), interrupt: silent, abort: silent });
      const followed = followEvaluation(lost, { timeout: 3000, signal: NEVER });
      for (let turn = 0; turn < 50; turn++) {
        mock.timers.tick(500);
        await Promise.resolve();
      }
      expect(await followed).to.deep.equal({
        kind: "running",
        timeout: 3000,
        thread: undefined,
        transcript: SILENT,
      });
    } finally {
      mock.timers.reset();
    }
  });

  it("aborts the evaluation of a cancelled call", async () => {
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
    const followed = await followEvaluation(running, { timeout: 3000, signal: controller.signal });
    expect(followed).to.deep.equal({ kind: "cancelled" });
    expect(aborted).to.equal(true);
  });

  it("rejects with any other error of the client", async () => {
    const refused = evaluation({ next: turns(new Error("There is no package X.")) });
    const error = await followEvaluation(refused, { timeout: 3000, signal: NEVER }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.an("error").with.property("message", "There is no package X.");
  });
});
