import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { Refusal, type ToolAnswer, type ToolServer, textAnswer } from "swank-mcp";
import { SuspendedCalls } from "#swank-mcp/mcp/suspended-calls.js";
import type { Reply } from "#swank-mcp/session/approval-places.js";
import { only } from "../../support/only.js";

const YES: Reply = { kind: "chosen", choice: "Yes" };

describe("SuspendedCalls whose user answers elsewhere", () => {
  let calls: SuspendedCalls;
  let withdrawing: AbortController;
  let replies: Reply[];
  let finish: (answer: ToolAnswer) => void;
  let cancelled: AbortSignal | undefined;

  beforeEach(() => {
    withdrawing = new AbortController();
    replies = [];
    const tools = only<ToolServer>("tools", {
      async call({ ask, signal }) {
        cancelled = signal;
        const ending = AbortSignal.any([signal, withdrawing.signal]);
        const question = { message: "May I?", choices: ["Yes"] } as const;
        const reply = await ask?.(question, { timeout: 60_000, signal: ending });
        if (reply !== undefined) replies.push(reply);
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    });
    calls = new SuspendedCalls(tools);
  });

  function request(name = "act") {
    return { name, args: {}, signal: new AbortController().signal, progress: () => {} };
  }

  async function asked(): Promise<string> {
    const round = await calls.begin(request());
    if (round.kind !== "asked") throw new Error("It does not ask.");
    return round.state;
  }

  it("go on without the client, and give a late answer the finished result, once", async () => {
    const state = await asked();
    withdrawing.abort();
    await setImmediate();
    expect(replies).to.deep.equal([{ kind: "failed", why: "the user has answered elsewhere" }]);
    finish(textAnswer("done"));
    await setImmediate();
    expect(await calls.resume(state, { kind: "declined" }, request())).to.deep.equal({
      kind: "answered",
      answer: textAnswer("done"),
    });
    const again = await calls.resume(state, YES, request()).catch((error: unknown) => error);
    expect(again).to.be.instanceOf(Refusal).and.to.include({ code: "APPROVAL_DENIED" });
  });

  it("let a late answer wait for a call that still runs, which its request can then cancel", async () => {
    const state = await asked();
    withdrawing.abort();
    await setImmediate();
    const cancelling = new AbortController();
    const round = calls.resume(state, YES, { ...request(), signal: cancelling.signal });
    cancelling.abort();
    expect(cancelled?.aborted).to.equal(true);
    finish(textAnswer("cancelled"));
    expect(await round).to.deep.equal({ kind: "answered", answer: textAnswer("cancelled") });
  });

  it("refuse a late answer with another call", async () => {
    const state = await asked();
    withdrawing.abort();
    await setImmediate();
    const other = await calls.resume(state, YES, request("other")).catch((error: unknown) => error);
    expect(other).to.be.instanceOf(Refusal);
    finish(textAnswer("done"));
    expect(await calls.resume(state, YES, request())).to.have.property("kind", "answered");
  });

  it("are cancelled when the client disconnects", async () => {
    await asked();
    withdrawing.abort();
    await setImmediate();
    calls.close();
    expect(cancelled?.aborted).to.equal(true);
  });
});
