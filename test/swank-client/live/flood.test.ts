import { expect } from "chai";
import type { SwankClient } from "swank-client";
import { liveImage } from "./live-image.js";
import { aborted, evaluate, returned, stopped, values } from "./outcomes.js";

const FIFTY_MEGABYTES =
  '(let ((line (make-string 1000 :initial-element #\\a))) (dotimes (i 50000) (write-string line)) (write-string "the end"))';

describe("Large output", () => {
  const image = liveImage();
  let client: SwankClient;
  beforeEach(async () => {
    client = await image.connect();
  });

  it("is cut to its beginning and its end, with the number of omitted characters", async () => {
    const { stdout } = returned(await evaluate(client, FIFTY_MEGABYTES));
    const [, head, omitted, tail] =
      /^(a{100000})\n\[\.\.\. (\d+) characters left out \.\.\.\]\n(a*the end)$/.exec(stdout) ?? [];
    expect(tail).to.have.lengthOf(4000);
    expect(String(head).length + Number(omitted) + String(tail).length).to.equal(50_000_007);
  });

  it("is cut to the requested limit", async () => {
    const code = '(dotimes (i 100) (format t "~3,\'0d" i))';
    const { stdout } = returned(await evaluate(client, code, { outputLimit: 30 }));
    const all = [...Array(100).keys()].map((i) => String(i).padStart(3, "0")).join("");
    expect(stdout).to.equal(all);
    const long = returned(await evaluate(client, '(dotimes (i 3000) (format t "~4,\'0d" i))', { outputLimit: 30 }));
    expect(long.stdout).to.match(
      /^000000010002000300040005000600\n\[\.\.\. 7970 characters left out \.\.\.\]\n.*2999$/s,
    );
    expect(returned(await evaluate(client, "(princ 1)", { outputLimit: 0 })).stdout).to.equal("1");
  });

  it("is complete without a limit, with bounded memory on both sides", async () => {
    let length = 0;
    const before = process.memoryUsage().rss;
    let peak = before;
    const outcome = returned(
      await evaluate(client, `(sb-ext:gc :full t) ${FIFTY_MEGABYTES} (sb-kernel:dynamic-usage)`, {
        outputLimit: Number.POSITIVE_INFINITY,
        onOutput: ({ text }) => {
          length += text.length;
          peak = Math.max(peak, process.memoryUsage().rss);
        },
      }),
    );
    expect(length).to.equal(50_000_007);
    expect(outcome.stdout.length).to.be.within(2_000_000, 2_020_000);
    expect(outcome.stdout).to.match(/characters left out \.\.\.\]\na+the end$/);
    expect(Number(outcome.values[0])).to.be.below(400_000_000);
    expect(peak - before).to.be.below(200_000_000);
  });

  it("in lines that are each flushed is complete", async () => {
    const { stdout } = returned(await evaluate(client, '(dotimes (i 5000) (format t "~d~%" i) (finish-output))'));
    expect(stdout).to.equal([...Array(5000).keys()].map((i) => `${i}\n`).join(""));
  });

  it("in single characters is complete", async () => {
    const { stdout } = returned(
      await evaluate(client, "(dotimes (i 50000) (write-char (code-char (+ 97 (mod i 26)))))"),
    );
    expect(stdout).to.have.lengthOf(50_000);
    expect(stdout).to.match(/^(abcdefghijklmnopqrstuvwxyz)+ab$/);
  });

  for (const [what, options] of [
    ["with a limit", {}],
    ["without one", { outputLimit: Number.POSITIVE_INFINITY }],
  ] as const) {
    it(`can be interrupted, continued and aborted ${what}`, async () => {
      const evaluation = client.evaluate("(loop (print 1) (finish-output))", options);
      for (let round = 0; round < 3; round += 1) {
        await evaluation.next({ timeout: 100 }).catch(() => undefined);
        expect(await evaluation.interrupt()).to.equal(true);
        const stop = stopped(await evaluation.next());
        expect(stop.stop.reason).to.equal("interrupt");
        expect(stop.stdout).to.match(/(\n1 )+/);
        await stop.stop.invokeRestart(stop.stop.condition.restarts.findIndex(({ name }) => name === "CONTINUE"));
      }
      aborted(await evaluation.abort());
      expect(await values(client, ":fine")).to.deep.equal([":FINE"]);
    });
  }

  it("from many simultaneous evaluations blocks none of them", async () => {
    const floods = [...Array(8).keys()].map(() =>
      client.evaluate("(loop (print 1))", { outputLimit: Number.POSITIVE_INFINITY }),
    );
    for (let n = 0; n < 20; n += 1) expect(await values(client, `(+ ${n} 1)`)).to.deep.equal([String(n + 1)]);
    for (const flood of floods) aborted(await flood.abort());
  });
});
