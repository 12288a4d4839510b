import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { liveImage } from "./live-image.js";
import { aborted, evaluate, returned, stopped, values } from "./outcomes.js";

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

describe("Stop.frames: the source of a frame", () => {
  const image = liveImage();
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "live-sources-"));
  });
  after(() => rm(folder, { recursive: true }));

  const HEADS: Readonly<Record<string, string>> = {
    plain: "; nothing odd\n",
    "characters of several bytes": ";; öäü おはよう 😀\n",
    "a coding cookie": ";; -*- coding: utf-8 -*- öäü 😀\n",
    "lines that end in CR LF": ";; one\r\n;; two\r\n",
  };
  for (const [name, head] of Object.entries(HEADS)) {
    it(`includes line and column in a file with ${name}`, async () => {
      // A name of its own: Swank keeps sources by name and by date, which counts in seconds.
      const file = join(folder, `${name.replaceAll(" ", "-")}.lisp`);
      await writeFile(
        file,
        `${head}(declaim (optimize (debug 3)))\n(defun located (x)\n  (list x\n        (car x)))\n`,
      );
      const client = await image.connect();
      await values(client, `(load (compile-file "${file}"))`);
      const { stop } = stopped(await evaluate(client, "(located 5)"));
      const { frames } = await stop.frames(0, 10);
      const source = frames.find((frame) => frame.function === "COMMON-LISP-USER::LOCATED")?.source;
      const line = head.split("\n").length + 3;
      expect(source).to.deep.equal({ file, line, column: 9 });
      await stop.abort();
    });
  }
});
