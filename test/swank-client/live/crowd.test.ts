import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { liveImage } from "./live-image.js";
import { aborted, returned, stopped } from "./outcomes.js";

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

describe("SwankClient under load:", () => {
  const image = liveImage();

  it("100 clients connect at once to an image that is suspended for a moment, although few of them may wait for it", async () => {
    image.swank.process.kill("SIGSTOP");
    const connecting = numbers(100).map(() => image.connect({ runtime: false }));
    await pause(300);
    image.swank.process.kill("SIGCONT");
    expect(await Promise.all(connecting)).to.have.lengthOf(100);
  });

  it("200 simultaneous evaluations each return their own value", async () => {
    const client = await image.connect();
    const evaluations = numbers(200).map((n) => client.evaluate(`(progn (sleep 0.05) (list ${n} (* ${n} ${n})))`));
    const outcomes = await Promise.all(evaluations.map((evaluation) => evaluation.next()));
    expect(outcomes.map((outcome) => returned(outcome).values)).to.deep.equal(
      numbers(200).map((n) => [`(${n} ${n * n})`]),
    );
    expect(client.evaluations).to.deep.equal([]);
  });

  it("16 stopped threads resume in any order, each to its own value", async () => {
    const client = await image.connect();
    const code = (n: number) => `(restart-case (error "stop ~d" ${n}) (give (value) (list ${n} value)))`;
    const evaluations = numbers(16).map((n) => client.evaluate(code(n)));
    const stops = await Promise.all(evaluations.map(async (evaluation) => stopped(await evaluation.next())));
    expect(stops.map(({ stop }) => stop.condition.message)).to.deep.equal(numbers(16).map((n) => `stop ${n}`));
    expect(new Set(client.stops.map(({ thread }) => thread)).size).to.equal(16);
    const backwards = [...stops.entries()].reverse();
    await Promise.all(backwards.map(([n, { stop }]) => stop.invokeRestart(0, [`(+ 100 ${n})`])));
    const outcomes = await Promise.all(evaluations.map((evaluation) => evaluation.next()));
    expect(outcomes.map((outcome) => returned(outcome).values)).to.deep.equal(
      numbers(16).map((n) => [`(${n} ${n + 100})`]),
    );
  });

  it("the frames of an exhausted stack are counted and returned in pages", async () => {
    const client = await image.connect();
    const evaluation = client.evaluate("(defun deep (n) (1+ (deep (1+ n)))) (deep 0)");
    const { stop } = stopped(await evaluation.next());
    const first = await stop.frames(0, 10);
    expect(first.totalFrames).to.be.greaterThan(1000);
    const middle = await stop.frames(500, 503);
    expect(middle.frames.map(({ index, call }) => [index, /^\(DEEP \d+\)$/.test(call)])).to.deep.equal(
      [500, 501, 502].map((index) => [index, true]),
    );
    aborted(await evaluation.abort());
  });
});
