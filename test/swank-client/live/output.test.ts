import { EventEmitter, once } from "node:events";
import { expect } from "chai";
import type { types } from "swank-client";
import { liveClient } from "./live-image.js";
import { aborted, returned, stopped } from "./outcomes.js";

/** Text of one stream, in the order in which it came. */
function textOf(chunks: readonly types.OutputChunk[], stream: types.OutputChunk["stream"]): string {
  return chunks
    .filter((chunk) => chunk.stream === stream)
    .map(({ text }) => text)
    .join("");
}

/** Collects output, and tells when enough of it is there. */
class Listener {
  readonly chunks: types.OutputChunk[] = [];
  readonly #arrival = new EventEmitter();

  readonly onOutput = (chunk: types.OutputChunk): void => {
    this.chunks.push(chunk);
    this.#arrival.emit("chunk");
  };

  async until(stream: types.OutputChunk["stream"], text: string): Promise<void> {
    while (!textOf(this.chunks, stream).includes(text)) await once(this.#arrival, "chunk");
  }
}

describe("Output of an evaluation", () => {
  const image = liveClient();

  it("is separated by stream, for every stream variable", async () => {
    const outcome = returned(
      await image.evaluate(`(format t "a~%") (format *error-output* "b~%") (format *trace-output* "c~%") (format *query-io* "d~%")
         (format *terminal-io* "e~%") (format *debug-io* "f~%") (write-line "g") (write-char #\\h) (terpri) (print :i) (pprint '(j))`),
    );
    expect(outcome.stderr).to.equal("b\n");
    expect(outcome.stdout).to.equal("a\nc\nd\ne\nf\ng\nh\n\n:I \n(J)");
  });

  it("tracks its column, so that FRESH-LINE works", async () => {
    const outcome = returned(
      await image.evaluate('(fresh-line) (princ "a") (fresh-line) (fresh-line) (format t "b~%~&c~20tx")'),
    );
    expect(outcome.stdout).to.equal(`a\nb\nc${" ".repeat(19)}x`);
  });

  it("arrives while the code runs", async () => {
    const listener = new Listener();
    const evaluation = image.client.evaluate('(princ "first") (format *error-output* "second") (sleep 1000)', {
      onOutput: listener.onOutput,
    });
    await Promise.all([listener.until("stdout", "first"), listener.until("stderr", "second")]);
    expect(evaluation.isSettled).to.equal(false);
    expect(aborted(await evaluation.abort())).to.include({ stdout: "first", stderr: "second" });
  });

  it("can be read while the code runs, and is delivered once", async () => {
    const listener = new Listener();
    const evaluation = image.client.evaluate('(warn "early") (princ "first") (break) (princ "second") (sleep 1000)', {
      onOutput: listener.onOutput,
    });
    await stopped(await evaluation.next()).stop.continue();
    await listener.until("stdout", "second");
    expect(evaluation.takeTranscript()).to.deep.include({ stdout: "second", warnings: [] });
    expect(evaluation.thread).to.be.a("number");
    expect(aborted(await evaluation.abort())).to.include({ stdout: "" });
  });

  it("is in order, in chunks and in the outcome", async () => {
    const listener = new Listener();
    const outcome = returned(
      await image.evaluate('(dotimes (i 20000) (format t "~d " i) (format *error-output* "~d " (- i)))', {
        onOutput: listener.onOutput,
        outputLimit: 1e6,
      }),
    );
    const expected = [...Array(20_000).keys()].map((i) => `${i} `).join("");
    expect(outcome.stdout).to.equal(expected);
    expect(textOf(listener.chunks, "stdout")).to.equal(expected);
    expect(textOf(listener.chunks, "stderr")).to.equal(outcome.stderr);
  });

  it("keeps every character, written by any function", async () => {
    const outcome = returned(
      await image.evaluate(`(write-string "xあ🙂y" *standard-output* :start 1 :end 3) (write-sequence (list #\\a #\\λ) *standard-output*)
         (write-sequence "\\"\\\\" *standard-output*) (write-char #\\Nul) (write-char #\\Tab) (prin1 "q")
         (write-string (coerce "base" 'simple-base-string)) (write-string (make-array 3 :element-type 'character :initial-contents "adj" :adjustable t))`),
    );
    expect(outcome.stdout).to.equal('あ🙂aλ"\\\0\t"q"baseadj');
  });

  it("belongs to its evaluation, even if many run simultaneously", async () => {
    const codes = [...Array(20).keys()].map(
      (n) => `(dotimes (i 100) (format t "~d/~d " ${n} i) (when (= 0 (mod i 10)) (sleep 0.001)))`,
    );
    const outcomes = await Promise.all(codes.map((code) => image.evaluate(code)));
    outcomes.forEach((outcome, n) => {
      expect(outcome.stdout).to.equal([...Array(100).keys()].map((i) => `${n}/${i} `).join(""));
    });
  });

  it("of a program that the code runs belongs to the evaluation", async () => {
    const outcome = returned(
      await image.evaluate(
        '(sb-ext:run-program "/bin/sh" (list "-c" "echo out; echo err >&2") :output *standard-output* :error *error-output*) (values)',
      ),
    );
    expect(outcome).to.include({ stdout: "out\n", stderr: "err\n" });
  });

  it("of threads that write to the code's streams arrives, even after the code has returned", async () => {
    const listener = new Listener();
    const evaluation = image.client.evaluate(
      `(let ((out *standard-output*) (go (sb-thread:make-semaphore)))
         (defparameter *go* go)
         (sb-thread:join-thread (sb-thread:make-thread (lambda () (write-string "joined " out))))
         (sb-thread:make-thread (lambda () (sb-thread:wait-on-semaphore go) (write-string "late" out)))
         (values))`,
      { onOutput: listener.onOutput },
    );
    expect(returned(await evaluation.next()).stdout).to.equal("joined ");
    await image.values("(sb-thread:signal-semaphore *go*)");
    await listener.until("stdout", "late");
    expect(returned(await evaluation.next())).to.include({ stdout: "late", stderr: "" });
    expect(returned(await evaluation.next()).stdout).to.equal("");
  });

  it("of cleanup forms is in the outcome of the abort", async () => {
    const evaluation = image.client.evaluate(
      '(unwind-protect (progn (princ "body") (error "stop")) (princ "cleanup"))',
    );
    expect(stopped(await evaluation.next()).stdout).to.equal("body");
    expect(aborted(await evaluation.abort()).stdout).to.equal("cleanup");
  });

  it("is complete even if its stream is closed, cleared or finished", async () => {
    const code =
      "(princ 1) (close *standard-output*) (princ 2) (clear-output) (princ 3) (finish-output) (force-output) (princ 4)";
    expect(returned(await image.evaluate(code)).stdout).to.equal("1234");
    expect(
      returned(await image.evaluate('(with-open-stream (s *error-output*) (princ "x" s)) (princ "y" *error-output*)'))
        .stderr,
    ).to.equal("xy");
  });

  it("includes the code's own trace", async () => {
    const outcome = returned(await image.evaluate("(defun traced (x) (1+ x)) (trace traced) (traced 1) (untrace)"));
    expect(outcome.stdout).to.match(/0: \(TRACED 1\)\n\s+0: TRACED returned 2\n/);
  });
});

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

  it("in single characters is complete", async () => {
    const { stdout } = returned(await image.evaluate("(dotimes (i 50000) (write-char (code-char (+ 97 (mod i 26)))))"));
    expect(stdout).to.have.lengthOf(50_000);
    expect(stdout).to.match(/^(abcdefghijklmnopqrstuvwxyz)+ab$/);
  });

  for (const [what, options] of [
    ["with a limit", {}],
    ["without one", { outputLimit: Number.POSITIVE_INFINITY }],
  ] as const)
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

  it("from many simultaneous evaluations blocks none of them", async () => {
    const floods = [...Array(4).keys()].map(() =>
      image.client.evaluate("(loop (print 1))", { outputLimit: Number.POSITIVE_INFINITY }),
    );
    for (let n = 0; n < 5; n += 1) expect(await image.values(`(+ ${n} 1)`)).to.deep.equal([String(n + 1)]);
    for (const flood of floods) aborted(await flood.abort());
  });
});
