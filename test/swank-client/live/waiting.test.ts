import { expect } from "chai";
import { liveClient } from "./live-image.js";
import { aborted, returned, stopped } from "./outcomes.js";

const reason = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no rejection",
    (error: unknown) => error,
  );

describe("Evaluation.next", () => {
  const image = liveClient();

  it("times out, and can be called again", async () => {
    const evaluation = image.client.evaluate("(read-line *standard-input* nil) (sleep 0.2) :slept");
    expect(await reason(evaluation.next({ timeout: 1 }))).to.include({ code: "WAIT_TIMEOUT" });
    expect(await reason(evaluation.next({ timeout: 0 }))).to.include({ code: "WAIT_TIMEOUT" });
    expect(evaluation.isSettled).to.equal(false);
    expect(returned(await evaluation.next()).values).to.deep.equal([":SLEPT"]);
  });

  it("accepts any number as timeout", async () => {
    for (const timeout of [Number.POSITIVE_INFINITY, 2 ** 31, 1e12]) {
      expect(returned(await image.client.evaluate("(sleep 0.05) 1").next({ timeout })).values).to.deep.equal(["1"]);
    }
  });

  it("ends with the signal's reason when its signal is aborted, before or during the wait", async () => {
    const evaluation = image.client.evaluate("(sleep 0.2) :slept");
    const controller = new AbortController();
    const waiting = reason(evaluation.next({ signal: controller.signal }));
    const why = new Error("enough");
    controller.abort(why);
    expect(await waiting).to.include({ code: "CANCELLED", cause: why });
    expect(await reason(evaluation.next({ signal: controller.signal }))).to.include({ code: "CANCELLED" });
    expect(returned(await evaluation.next({ signal: new AbortController().signal })).values).to.deep.equal([":SLEPT"]);
  });

  it("returns an available outcome, whatever the timeout and the signal", async () => {
    const evaluation = image.client.evaluate("1");
    while (!evaluation.isSettled) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(returned(await evaluation.next({ timeout: 0, signal: AbortSignal.abort() })).values).to.deep.equal(["1"]);
  });

  it("returns the same outcome and output to all callers", async () => {
    const evaluation = image.client.evaluate('(princ "out") (cerror "go on" "stop") (princ "more") 1');
    const stops = (await Promise.all([evaluation.next(), evaluation.next(), evaluation.next()])).map(stopped);
    for (const stop of stops) expect(stop).to.include({ stdout: "out", stop: stops[0]?.stop });
    const ends = Promise.all([evaluation.next(), evaluation.next()]);
    await stops[0]?.stop.invokeRestart(0);
    for (const end of await ends) expect(returned(end)).to.include({ stdout: "more" });
    expect(await evaluation.next()).to.include({ stdout: "" });
  });

  it("leaves no timers or listeners behind", async () => {
    const evaluation = image.client.evaluate("(loop)");
    const { signal } = new AbortController();
    for (let round = 0; round < 50; round += 1) await reason(evaluation.next({ timeout: 0, signal }));
    aborted(await evaluation.abort());
  });

  it("gives the reason for code that was never run", async () => {
    const bad: unknown = 5;
    const codes = [
      { code: "1", options: { outputLimit: -1 } },
      { code: "1", options: { valueLimit: -1 } },
      { code: "1", options: { outputLimit: Number.NaN } },
    ];
    for (const { code, options } of codes) {
      const evaluation = image.client.evaluate(code, options);
      expect(await reason(evaluation.next())).to.include({ code: "INVALID_ARGUMENT" });
      expect(await reason(evaluation.abort())).to.include({ code: "INVALID_ARGUMENT" });
      expect(await evaluation.interrupt()).to.equal(false);
    }
    expect(await reason(Reflect.apply(image.client.evaluate, image.client, [bad]).next())).to.include({
      code: "INVALID_ARGUMENT",
    });
  });
});
