import { expect } from "chai";
import type { types } from "swank-client";
import { liveClient } from "./live-image.js";
import { aborted, returned, stopped } from "./outcomes.js";

const FIFTY_MEGABYTES =
  '(let ((line (make-string 1000 :initial-element #\\a))) (dotimes (i 50000) (write-string line)) (write-string "the end"))';

describe("Large output", () => {
  const image = liveClient();

  it("is cut to its beginning and its end, and the data say where and how many characters are missing", async () => {
    const { stdout, outputOmitted } = returned(await image.evaluate(FIFTY_MEGABYTES));
    expect(stdout).to.match(/^a+the end$/);
    expect(stdout).to.have.lengthOf(104_000);
    expect(outputOmitted).to.deep.equal([{ stream: "stdout", at: 100_000, count: 50_000_007 - 104_000 }]);
  });

  it("is cut to the requested limit", async () => {
    const code = '(dotimes (i 100) (format t "~3,\'0d" i))';
    const whole = returned(await image.evaluate(code, { outputLimit: 30 }));
    const all = [...Array(100).keys()].map((i) => String(i).padStart(3, "0")).join("");
    expect(whole).to.deep.include({ stdout: all, outputOmitted: [] });
    const long = returned(await image.evaluate('(dotimes (i 3000) (format t "~4,\'0d" i))', { outputLimit: 30 }));
    expect(long.stdout).to.match(/^000000010002000300040005000600(?=2000).*2999$/);
    expect(long.outputOmitted).to.deep.equal([{ stream: "stdout", at: 30, count: 7970 }]);
    expect(returned(await image.evaluate("(princ 1)", { outputLimit: 0 })).stdout).to.equal("1");
  });

  it("is cut in each stream, and the pieces say what is missing before them", async () => {
    const code = '(dotimes (i 9000) (write-char (code-char 128512) *error-output*)) (dotimes (i 5000) (princ "a"))';
    const chunks: types.OutputChunk[] = [];
    const evaluation = image.client.evaluate(code, { outputLimit: 10, onOutput: (chunk) => chunks.push(chunk) });
    const feed = evaluation[Symbol.asyncIterator]();
    const outcome = returned(await evaluation.next());
    expect(outcome.output).to.have.deep.members([
      { stream: "stderr", text: "\u{1F600}".repeat(10) },
      { stream: "stderr", text: "\u{1F600}".repeat(4000), omittedBefore: 4990 },
      { stream: "stdout", text: "a".repeat(10) },
      { stream: "stdout", text: "a".repeat(4000), omittedBefore: 990 },
    ]);
    expect(outcome).to.deep.include({
      stdout: "a".repeat(4010),
      stderr: "\u{1F600}".repeat(4010),
      outputOmitted: [
        { stream: "stdout", at: 10, count: 990 },
        { stream: "stderr", at: 20, count: 4990 },
      ],
    });
    const gaps = chunks.filter(({ omittedBefore }) => omittedBefore !== undefined);
    expect(gaps).to.have.deep.members([
      { stream: "stdout", text: "a".repeat(4000), omittedBefore: 990 },
      { stream: "stderr", text: "\u{1F600}".repeat(4000), omittedBefore: 4990 },
    ]);
    const read: types.OutputChunk[] = [];
    for await (const { type, ...chunk } of feed) if (type === "output" && "stream" in chunk) read.push(chunk);
    expect(read).to.deep.equal(chunks);
  });

  it("is cut between characters", async () => {
    const code =
      '(princ "a") (let ((faces (make-string 1000 :initial-element (code-char 128512)))) (dotimes (i 1100) (write-string faces))) (princ "b")';
    const { stdout, outputOmitted } = returned(await image.evaluate(code, { outputLimit: Number.POSITIVE_INFINITY }));
    expect(stdout).to.equal(`a${"\u{1F600}".repeat(1_004_999)}b`);
    expect(outputOmitted).to.deep.equal([{ stream: "stdout", at: 2_000_001, count: 95_001 }]);
  });

  it("of code in a frame is cut to its beginning", async () => {
    const { evaluation, stop } = await image.stopIn("(break)");
    const code = '(progn (dotimes (i 30000) (princ "a")) (princ "all" *error-output*))';
    expect(await stop.evaluateInFrame(0, code)).to.deep.include({
      stdout: "a".repeat(20_000),
      stderr: "all",
      outputOmitted: [{ stream: "stdout", at: 20_000, count: 10_000 }],
    });
    aborted(await evaluation.abort());
  });

  it("is cut again after a stop", async () => {
    const lines = '(dotimes (i 3000) (format t "~4,\'0d" i))';
    const evaluation = image.client.evaluate(`${lines} (break) ${lines}`, { outputLimit: 30 });
    const { stop, ...first } = stopped(await evaluation.next());
    expect(first.outputOmitted).to.deep.equal([{ stream: "stdout", at: 30, count: 7970 }]);
    await stop.continue();
    const { stdout, outputOmitted } = returned(await evaluation.next());
    expect(stdout).to.match(/^2000.*2999$/);
    expect(outputOmitted).to.deep.equal([{ stream: "stdout", at: 0, count: 8000 }]);
  });

  it("is complete without a limit, with bounded memory on both sides", async () => {
    let length = 0;
    const before = process.memoryUsage().rss;
    let peak = before;
    const outcome = returned(
      await image.evaluate(`(sb-ext:gc :full t) ${FIFTY_MEGABYTES} (sb-kernel:dynamic-usage)`, {
        outputLimit: Number.POSITIVE_INFINITY,
        onOutput: ({ text }) => {
          length += text.length;
          peak = Math.max(peak, process.memoryUsage().rss);
        },
      }),
    );
    expect(length).to.equal(50_000_007);
    expect(outcome.stdout).to.match(/^a+the end$/);
    expect(outcome.stdout).to.have.lengthOf(2_010_000);
    expect(outcome.outputOmitted).to.deep.equal([{ stream: "stdout", at: 2_000_000, count: 50_000_007 - 2_010_000 }]);
    expect(Number(outcome.values[0])).to.be.below(400_000_000);
    expect(peak - before).to.be.below(200_000_000);
  });

  it("in lines that are each flushed is complete", async () => {
    const { stdout } = returned(await image.evaluate('(dotimes (i 5000) (format t "~d~%" i) (finish-output))'));
    expect(stdout).to.equal([...Array(5000).keys()].map((i) => `${i}\n`).join(""));
  });

  it("in single characters is complete", async () => {
    const { stdout } = returned(await image.evaluate("(dotimes (i 50000) (write-char (code-char (+ 97 (mod i 26)))))"));
    expect(stdout).to.have.lengthOf(50_000);
    expect(stdout).to.match(/^(abcdefghijklmnopqrstuvwxyz)+ab$/);
  });

  for (const [what, options] of [
    ["with a limit", {}],
    ["without one", { outputLimit: Number.POSITIVE_INFINITY }],
  ] as const) {
    it(`can be interrupted, continued and aborted ${what}`, async () => {
      const evaluation = image.client.evaluate("(loop (print 1) (finish-output))", options);
      for (let round = 0; round < 3; round += 1) {
        await evaluation.next({ timeout: 100 }).catch(() => undefined);
        expect(await evaluation.interrupt()).to.equal(true);
        const stop = stopped(await evaluation.next());
        expect(stop.stop.reason).to.equal("interrupt");
        expect(stop.stdout).to.match(/(\n1 )+/);
        await stop.stop.invokeRestart(stop.stop.condition.restarts.findIndex(({ name }) => name === "CONTINUE"));
      }
      aborted(await evaluation.abort());
      expect(await image.values(":fine")).to.deep.equal([":FINE"]);
    });
  }

  it("from many simultaneous evaluations blocks none of them", async () => {
    const floods = [...Array(8).keys()].map(() =>
      image.client.evaluate("(loop (print 1))", { outputLimit: Number.POSITIVE_INFINITY }),
    );
    for (let n = 0; n < 20; n += 1) expect(await image.values(`(+ ${n} 1)`)).to.deep.equal([String(n + 1)]);
    for (const flood of floods) aborted(await flood.abort());
  });
});
