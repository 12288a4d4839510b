import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { liveImage } from "./live-image.js";
import { aborted, returned, stopped, values } from "./outcomes.js";

function failing(): never {
  throw new Error("the listener's own");
}

/** What becomes of an async function that is given as a listener. */
const rejecting = (): unknown => Promise.reject(new Error("the listener's own"));

describe("SwankClient: listeners that fail", () => {
  const image = liveImage();
  const reported: string[] = [];
  const unhandled: unknown[] = [];
  const options = {
    onListenerError: (error: unknown, event: string) => {
      reported.push(`${event}: ${error instanceof Error ? error.message : String(error)}`);
    },
  };
  const onUnhandled = (error: unknown) => unhandled.push(error);

  beforeEach(() => {
    reported.length = 0;
    unhandled.length = 0;
    process.on("unhandledRejection", onUnhandled);
  });
  afterEach(() => {
    process.off("unhandledRejection", onUnhandled);
  });

  it("stop: the other listeners and the evaluation get the stop, and the error is reported", async () => {
    const client = await image.connect(options);
    const threads: number[] = [];
    client.on("stop", failing);
    client.on("stop", rejecting);
    const stopListening = client.on("stop", ({ thread }) => threads.push(thread));
    client.on("stop", () => stopListening());
    const evaluation = client.evaluate('(error "x")');
    const { stop } = stopped(await evaluation.next());
    await pause(10);
    expect(threads).to.deep.equal([stop.thread]);
    expect(reported).to.deep.equal(["stop: the listener's own", "stop: the listener's own"]);
    aborted(await evaluation.abort());
    expect(unhandled).to.deep.equal([]);
  });

  for (const [what, onOutput] of [
    ["throws", failing],
    ["rejects", rejecting],
  ] as const) {
    it(`onOutput: the evaluation keeps its output when the listener ${what}, and the error is reported`, async () => {
      const client = await image.connect(options);
      const outcome = returned(await client.evaluate('(princ "out") 1', { onOutput }).next());
      await pause(10);
      expect(outcome).to.include({ stdout: "out" });
      expect(reported).to.deep.equal(["output: the listener's own"]);
      expect(await values(client, "2")).to.deep.equal(["2"]);
      expect(unhandled).to.deep.equal([]);
    });
  }

  it("replyPolicy: Lisp gets the default answer when the policy is an async function", async () => {
    const replyPolicy = new Proxy(() => undefined, { apply: rejecting });
    const client = await image.connect({ ...options, replyPolicy });
    const asked = '(swank::with-connection ((first (last swank::*connections*))) (swank::y-or-n-p-in-emacs "sure?"))';
    expect(await values(client, asked)).to.deep.equal(["NIL"]);
    await pause(10);
    expect(reported).to.include("replyPolicy: the listener's own");
    expect(unhandled).to.deep.equal([]);
  });

  it("onListenerError: a rejection of an async reporter becomes a process warning", async () => {
    const warning = new Promise<Error>((resolve) => process.once("warning", resolve));
    const client = await image.connect({ onListenerError: rejecting });
    client.on("stop", failing);
    const evaluation = client.evaluate('(error "x")');
    stopped(await evaluation.next());
    expect((await warning).message).to.equal('A listener for "stop" failed: the listener\'s own');
    aborted(await evaluation.abort());
    expect(unhandled).to.deep.equal([]);
  });
});
