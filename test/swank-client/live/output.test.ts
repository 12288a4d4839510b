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
    const outcome = aborted(await evaluation.abort());
    expect(outcome).to.include({ stdout: "first", stderr: "second" });
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
    const again = returned(await evaluation.next());
    expect(again).to.include({ stdout: "late", stderr: "" });
    expect(returned(await evaluation.next()).stdout).to.equal("");
  });

  it("before a stop is in the stop's outcome, and later output in the next outcome", async () => {
    const evaluation = image.client.evaluate(
      '(princ "before") (cerror "go on" "stop") (princ "after") (format *error-output* "err")',
    );
    const stop = stopped(await evaluation.next());
    expect(stop).to.include({ stdout: "before", stderr: "" });
    await stop.stop.invokeRestart(stop.stop.condition.restarts.findIndex(({ name }) => name === "CONTINUE"));
    expect(returned(await evaluation.next())).to.include({ stdout: "after", stderr: "err" });
    expect(await evaluation.next()).to.include({ status: "returned", stdout: "", stderr: "" });
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
