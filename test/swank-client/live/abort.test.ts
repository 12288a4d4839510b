import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { Evaluation, SwankClient } from "swank-client";
import { liveClient } from "./live-image.js";
import { aborted, returned, stopped } from "./outcomes.js";

/** Resolves when the evaluation has printed `sign`. */
function whenRunning(client: SwankClient, code: string, sign = "running"): Promise<Evaluation> {
  return new Promise((resolve) => {
    const evaluation: Evaluation = client.evaluate(`(princ "running") ${code}`, {
      onOutput: ({ text }) => {
        if (text.includes(sign)) resolve(evaluation);
      },
    });
  });
}

describe("Evaluation.abort", () => {
  const image = liveClient();

  const STUBBORN: readonly string[] = [
    "(loop)",
    "(unwind-protect (loop) (loop))",
    "(unwind-protect (loop) (unwind-protect (loop) (sleep 1000)))",
    "(unwind-protect (sleep 1000) (sleep 1000))",
    "(loop (handler-case (loop) (serious-condition () nil)))",
    "(loop (ignore-errors (restart-case (loop) (abort () nil))))",
    '(unwind-protect (loop) (error "in the cleanup"))',
    "(sb-thread:with-mutex ((sb-thread:make-mutex)) (sleep 1000))",
  ];
  for (const code of STUBBORN) {
    it(`ends a running or stopped evaluation: ${code}`, async () => {
      const running = await whenRunning(image.client, code);
      aborted(await running.abort());
      const halted = await whenRunning(image.client, code);
      await halted.interrupt();
      stopped(await halted.next());
      aborted(await halted.abort());
      expect(image.client.stops).to.deep.equal([]);
    });
  }

  for (const code of [
    "(dotimes (i 3) (block hijack (unwind-protect (loop) (return-from hijack nil))))",
    "(loop repeat 2 do (catch 'hijack (unwind-protect (loop) (throw 'hijack nil))))",
  ]) {
    it(`ends code that escapes from its unwinding: ${code}`, async () => {
      const evaluation = await whenRunning(image.client, code);
      expect((await evaluation.abort()).status).to.be.oneOf(["aborted", "returned"]);
    });
  }

  it("runs cleanup forms, and releases locks", async () => {
    await image.values("(defvar *cleaned* 0) (defvar *mutex* (sb-thread:make-mutex))");
    const evaluation = await whenRunning(
      image.client,
      "(sb-thread:with-mutex (*mutex*) (unwind-protect (loop) (incf *cleaned*)))",
    );
    aborted(await evaluation.abort());
    expect(await image.values("(list *cleaned* (sb-thread:mutex-owner *mutex*))")).to.deep.equal(["(1 NIL)"]);
  });

  it("leaves cleanup forms most of a second, also of a stopped evaluation, and when the client closes", async () => {
    await image.values("(defvar *cleanups* '())");
    const code = (name: string) => `(unwind-protect (loop) (sleep 0.7) (push ${name} *cleanups*))`;
    const running = await whenRunning(image.client, code(":running"));
    aborted(await running.abort());
    const halted = await whenRunning(image.client, code(":stopped"));
    await halted.interrupt();
    stopped(await halted.next());
    aborted(await halted.abort());
    const failed = image.client.evaluate('(unwind-protect (error "x") (sleep 0.7) (push :failed *cleanups*))');
    const { stop } = stopped(await failed.next());
    const leaving = stop.abort();
    await pause(100);
    aborted(await failed.abort());
    await leaving;
    const closing = await image.connect();
    await whenRunning(closing, code(":closed"));
    await closing.close();
    expect(await image.values("*cleanups*")).to.deep.equal(["(:CLOSED :FAILED :STOPPED :RUNNING)"]);
  });

  it("has the same result for all callers, including later ones", async () => {
    const evaluation = await whenRunning(image.client, "(loop)");
    const waiting = evaluation.next();
    const outcomes = await Promise.all([evaluation.abort(), evaluation.abort(), waiting, evaluation.next()]);
    for (const outcome of outcomes) aborted(outcome);
    aborted(await evaluation.abort());
    aborted(await evaluation.next());
    expect(evaluation.isSettled).to.equal(true);
  });

  it("ends an evaluation that has not been sent", async () => {
    for (let round = 0; round < 20; round += 1) {
      const evaluation = image.client.evaluate("(loop)");
      aborted(await evaluation.abort());
    }
  });

  it("ends a client's first evaluation while the runtime is being loaded", async () => {
    const fresh = await image.connect();
    const evaluation = fresh.evaluate("(loop)");
    aborted(await evaluation.abort());
  });

  it("returns the last outcome if there is one", async () => {
    const evaluation = image.client.evaluate("(princ 1) 42");
    returned(await evaluation.next());
    expect(returned(await evaluation.abort()).values).to.deep.equal(["42"]);
    const untaken = image.client.evaluate("(princ 1) 43");
    while (!untaken.isSettled) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(returned(await untaken.abort())).to.deep.include({ values: ["43"], stdout: "1" });
  });

  it("gives up with an error on code without interrupts, which continues", async () => {
    const evaluation = await whenRunning(
      image.client,
      `(let ((end (+ (get-internal-real-time) (* 6 internal-time-units-per-second))))
         (sb-sys:without-interrupts (princ "within") (loop until (> (get-internal-real-time) end) do (sleep 0.01))))
       :end`,
      "within",
    );
    const error = await evaluation.abort().catch((reason: unknown) => reason);
    expect(error).to.include({ code: "WAIT_TIMEOUT" });
    expect(evaluation.isSettled).to.equal(false);
    expect(await image.values(":others-go-on")).to.deep.equal([":OTHERS-GO-ON"]);
    aborted(await evaluation.next());
  });

  it("ends code that stopped without interrupts", async () => {
    for (let round = 0; round < 3; round += 1) {
      const evaluation = image.client.evaluate('(sb-sys:without-interrupts (error "x"))');
      stopped(await evaluation.next());
      aborted(await evaluation.abort());
    }
    expect(image.client.stops).to.deep.equal([]);
    expect(await image.values(":alive")).to.deep.equal([":ALIVE"]);
  });

  it("can be called many times while interrupts are disabled", async () => {
    await image.values("(defvar *let-in* nil) (defvar *number* nil)");
    const code =
      '(setf *number* (swank/backend:thread-id sb-thread:*current-thread*)) (sb-sys:without-interrupts (princ "within") (loop until *let-in* do (sleep 0.01)))';
    const evaluation = await whenRunning(image.client, code, "within");
    for (let round = 0; round < 20; round += 1) expect(await evaluation.interrupt()).to.equal(true);
    await Promise.allSettled(Array.from({ length: 5 }, () => evaluation.abort()));
    expect(evaluation.isSettled).to.equal(false);
    expect(await image.values("*number*")).to.deep.equal([String(evaluation.thread)]);
    await image.values("(setf *let-in* t)");
    aborted(await evaluation.abort());
    expect(await image.values(":alive")).to.deep.equal([":ALIVE"]);
  });

  it("works 200 times at random moments around the evaluation's end", async () => {
    for (let round = 0; round < 200; round += 1) {
      const evaluation = image.client.evaluate("(dotimes (i (random 20000) :end) (random 2))");
      if (round % 2 === 0) await evaluation.next({ timeout: Math.random() * 2 }).catch(() => undefined);
      const outcome = await evaluation.abort();
      expect(outcome.status).to.be.oneOf(["returned", "aborted"]);
      expect(await evaluation.next()).to.include({ status: outcome.status });
    }
    expect(image.client.evaluations).to.deep.equal([]);
    expect(await image.values(":fine")).to.deep.equal([":FINE"]);
  });
});
