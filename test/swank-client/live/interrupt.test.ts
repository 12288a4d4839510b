import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { forUsualServer } from "../../support/usual-server.js";
import { liveClient } from "./live-image.js";
import { aborted, returned, stopped } from "./outcomes.js";
import { continueWith, whenRunning } from "./running.js";

describe("Evaluation.interrupt", () => {
  const image = liveClient();

  const ENDLESS: readonly string[] = [
    "(loop)",
    "(sleep 100000)",
    "(let ((n 0)) (declare (fixnum n) (optimize (speed 3) (safety 0) (debug 0))) (loop (setf n (logand (1+ n) 1023))))",
    "(loop (make-list 1000))",
    "(loop (compile nil '(lambda (x) (list x x))))",
    '(loop (intern (format nil "I-~d" (random 1000))))',
    '(loop (handler-case (error "x") (error () nil)))',
    "(loop (ignore-errors (sleep 0.01)))",
    "(loop (handler-case (loop) (condition () nil)))",
    "(loop (with-output-to-string (s) (print '(a b c) s)))",
    "(sb-thread:wait-on-semaphore (sb-thread:make-semaphore))",
    "(sb-thread:join-thread (sb-thread:make-thread (lambda () (sleep 3))))",
    "(let ((m (sb-thread:make-mutex))) (sb-thread:with-mutex (m) (loop)))",
    '(sb-ext:run-program "/bin/sleep" \'("3"))',
    "(defmacro endless () (loop)) (endless)",
    "(defstruct printing) (defmethod print-object ((p printing) s) (loop (sleep 0.01))) (make-printing)",
    "(loop (progn (eval '(defclass interrupted-class () (a b))) (make-instance 'interrupted-class)))",
    "(loop (gensym) (gc))",
    "(labels ((f (n) (if (zerop n) 0 (1+ (f (1- n)))))) (loop (f 10000)))",
    "#.(loop)",
  ];
  for (const code of ENDLESS)
    it(`pauses an evaluation, which can be continued and aborted: ${code}`, async () => {
      const evaluation = await whenRunning(image.client, code);
      for (let round = 0; round < 2; round += 1) {
        expect(await evaluation.interrupt()).to.equal(true);
        const stop = stopped(await evaluation.next());
        expect(stop.stop.reason).to.equal("interrupt");
        expect(stop.stop.condition).to.include({ type: "INTERRUPTED", message: "The evaluation was interrupted." });
        expect(stop.stop.condition.restarts[0]).to.deep.include({ name: "CONTINUE" });
        expect(stop.stop.condition.restarts.map(({ name }) => name)).to.include("ABORT");
        expect(await image.values("'interned-by-another")).to.deep.equal(["INTERNED-BY-ANOTHER"]);
        if (round === 0) await continueWith(evaluation, "CONTINUE");
      }
      expect(await evaluation.interrupt()).to.equal(false);
      expect(aborted(await evaluation.abort())).not.to.have.property("error");
    });

  it("lets the evaluation continue to its value", async () => {
    await image.values("(defvar *go* nil)");
    const evaluation = await whenRunning(
      image.client,
      "(let ((sum 0)) (dotimes (i 20) (incf sum i)) (loop until *go* do (sleep 0.005)) sum)",
    );
    expect(await evaluation.interrupt()).to.equal(true);
    stopped(await evaluation.next());
    await image.values("(setf *go* t)");
    await continueWith(evaluation, "CONTINUE");
    expect(returned(await evaluation.next()).values).to.deep.equal(["190"]);
  });

  it("waits for a restart that is under way, and stops what it resumes", async () => {
    const evaluation = image.client.evaluate('(loop (restart-case (error "x") (go-on () (loop))))');
    for (let round = 0; round < 3; round += 1) {
      const { stop } = stopped(await evaluation.next());
      const resuming = stop.invokeRestart(0);
      expect(await evaluation.interrupt()).to.equal(true);
      await resuming;
    }
    const { stop } = stopped(await evaluation.next());
    const refused = stop.invokeRestart(0, ["1"]).catch((error: unknown) => error);
    expect(await evaluation.interrupt()).to.equal(false);
    expect(await refused).to.have.property("code", "INVALID_ARGUMENT");
    expect(stop.isLive).to.equal(true);
    await evaluation.abort();
  });

  it("shows the interrupted code", async () => {
    // not in arithmetic, in the middle of which SBCL leaves the caller out of the stack
    const evaluation = await whenRunning(
      image.client,
      '(defun spin (n) (princ "within") (loop (sleep n))) (defun outer () (list (spin 100))) (outer)',
      "within",
    );
    await evaluation.interrupt();
    const error = stopped(await evaluation.next()).stop.condition;
    const own = error.frames.filter(({ kind }) => kind === "user").map(({ call }) => call);
    expect(own.join(" ")).to.match(/\(SPIN .*\(OUTER\)/);
    await evaluation.abort();
  });

  it("waits for the end of code that runs without interrupts", async () => {
    const evaluation = await whenRunning(
      image.client,
      "(sb-sys:without-interrupts (let ((end (+ (get-internal-real-time) (/ internal-time-units-per-second 2)))) (loop until (> (get-internal-real-time) end)))) (loop)",
    );
    expect(await evaluation.interrupt()).to.equal(true);
    expect(stopped(await evaluation.next()).stop.reason).to.equal("interrupt");
    await evaluation.abort();
  });

  it("stops exactly one of many evaluations", async () => {
    const evaluations = await Promise.all([...Array(10).keys()].map((n) => whenRunning(image.client, `(loop ${n})`)));
    for (const [n, evaluation] of evaluations.entries()) {
      await evaluation.interrupt();
      stopped(await evaluation.next());
      evaluations.forEach((other, m) => {
        expect(other.stop !== undefined, `${m} after ${n}`).to.equal(m <= n);
      });
    }
    (await Promise.all(evaluations.map((evaluation) => evaluation.abort()))).forEach(aborted);
  });

  it("returns false if there is nothing to interrupt", async () => {
    const ended = image.client.evaluate("1");
    await ended.next();
    expect(await ended.interrupt()).to.equal(false);
    const atError = image.client.evaluate('(error "x")');
    await atError.next();
    expect(await atError.interrupt()).to.equal(false);
    expect(image.client.stops).to.deep.equal([atError.stop]);
    await atError.abort();
  });

  it("leaves a stop that can be aborted, even where SBCL cannot enable interrupts again", async () => {
    const spin = "(dotimes (i 1000000) (setf n (logxor n i)))";
    const code = `(let ((n 0)) (loop (let ((sb-sys:*allow-with-interrupts* nil)) ${spin}) ${spin}))`;
    for (let round = 0; round < 3; round += 1) {
      const evaluation = await whenRunning(image.client, code);
      expect(await evaluation.interrupt()).to.equal(true);
      expect(stopped(await evaluation.next()).stop.reason).to.equal("interrupt");
      aborted(await evaluation.abort());
    }
  });
});

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
  for (const code of STUBBORN)
    it(`ends a running or stopped evaluation: ${code}`, async () => {
      const running = await whenRunning(image.client, code);
      aborted(await running.abort());
      const halted = await whenRunning(image.client, code);
      await halted.interrupt();
      stopped(await halted.next());
      aborted(await halted.abort());
      expect(image.client.stops).to.deep.equal([]);
    });

  for (const code of [
    "(dotimes (i 3) (block hijack (unwind-protect (loop) (return-from hijack nil))))",
    "(loop repeat 2 do (catch 'hijack (unwind-protect (loop) (throw 'hijack nil))))",
  ])
    it(`ends code that escapes from its unwinding: ${code}`, async () => {
      const evaluation = await whenRunning(image.client, code);
      expect((await evaluation.abort()).status).to.be.oneOf(["aborted", "returned"]);
    });

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
    expect(await evaluation.abort().catch((reason: unknown) => reason)).to.include({ code: "WAIT_TIMEOUT" });
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
    const code = forUsualServer(
      '(setf *number* (swank/backend:thread-id sb-thread:*current-thread*)) (sb-sys:without-interrupts (princ "within") (loop until *let-in* do (sleep 0.01)))',
    );
    const evaluation = await whenRunning(image.client, code, "within");
    for (let round = 0; round < 20; round += 1) expect(await evaluation.interrupt()).to.equal(true);
    await Promise.allSettled(Array.from({ length: 5 }, () => evaluation.abort()));
    expect(evaluation.isSettled).to.equal(false);
    expect(await image.values("*number*")).to.deep.equal([String(evaluation.thread)]);
    await image.values("(setf *let-in* t)");
    aborted(await evaluation.abort());
    expect(await image.values(":alive")).to.deep.equal([":ALIVE"]);
  });
});
