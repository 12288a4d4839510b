import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import { connect, type Stop, type SwankClient, type types } from "swank-client";
import { liveImage } from "./live-image.js";
import { aborted, evaluate, returned, stopped, values } from "./outcomes.js";

/** The stop of a thread at a level, once it is there. */
async function stopAt(client: SwankClient, thread: number, level: number): Promise<Stop> {
  for (;;) {
    const found = client.stops.find((stop) => stop.thread === thread && stop.level === level);
    if (found !== undefined) return found;
    await pause(5);
  }
}

async function untilEnded({ ended }: Stop): Promise<void> {
  while (!ended.aborted) await pause(5);
}

/** Makes a stopped thread stop again, one level deeper, as a request that fails would without this library. */
async function climb(client: SwankClient, thread: number, level: number): Promise<Stop> {
  const options = { label: "climb", thread, timeout: Number.POSITIVE_INFINITY };
  void client.connection.request(read('(cl:error "deeper")'), options).catch(() => undefined);
  return stopAt(client, thread, level);
}

/** What slime-tests.el asks of every client, under its names. */
describe("SwankClient in the scenarios of SLIME's tests:", () => {
  const image = liveImage();

  for (const depth of [1, 2, 3]) {
    it(`async-eval-debugging: ${depth} levels, all closed by one abort`, async () => {
      const client = await image.connect();
      const evaluation = client.evaluate('(error "first")');
      const { stop } = stopped(await evaluation.next());
      for (let level = 2; level <= depth; level += 1) await climb(client, stop.thread, level);
      expect(client.stops.map(({ level }) => level)).to.deep.equal(
        Array.from({ length: depth }, (_, index) => index + 1),
      );
      aborted(await evaluation.abort());
      expect(client.stops).to.deep.equal([]);
    });
  }

  it("unwind-to-previous-level: from 4 to 3 to 2, one at a time", async () => {
    const client = await image.connect();
    const evaluation = client.evaluate('(error "first")');
    const { stop } = stopped(await evaluation.next());
    for (let level = 2; level <= 4; level += 1) await climb(client, stop.thread, level);
    for (const level of [4, 3]) {
      const deepest = await stopAt(client, stop.thread, level);
      expect(deepest.restarts[0]?.description).to.equal(`Return to sldb level ${level - 1}.`);
      await deepest.invokeRestart(0);
      await untilEnded(deepest);
    }
    expect(client.stops.map(({ level }) => level)).to.deep.equal([1, 2]);
    expect(stop.isLive).to.equal(true);
    aborted(await evaluation.abort());
  });

  it("loop-interrupt-quit", async () => {
    const client = await image.connect();
    const evaluation = client.evaluate("(loop)");
    await evaluation.interrupt();
    expect(stopped(await evaluation.next()).stop.reason).to.equal("interrupt");
    aborted(await evaluation.abort());
  });

  it("loop-interrupt-continue-interrupt-quit", async () => {
    const client = await image.connect();
    const evaluation = client.evaluate("(loop)");
    await evaluation.interrupt();
    await stopped(await evaluation.next()).stop.continue();
    expect(evaluation.stop).to.equal(undefined);
    await evaluation.interrupt();
    expect(stopped(await evaluation.next()).stop.level).to.equal(1);
    aborted(await evaluation.abort());
  });

  it("interactive-eval: continue twice, then the value", async () => {
    const client = await image.connect();
    const evaluation = client.evaluate('(progn (cerror "foo" "restart") (cerror "bar" "restart") (+ 1 2))');
    await stopped(await evaluation.next()).stop.continue();
    await stopped(await evaluation.next()).stop.continue();
    expect(returned(await evaluation.next()).values).to.deep.equal(["3"]);
  });

  for (const [name, list] of Object.entries({
    "cdr-circular": "(let ((list (list 1 2 3))) (setf (cdr (last list)) list))",
    "car-circular": "(let ((list (list 1 2))) (setf (car list) list))",
    "one with a long string": "(list (make-string 100000 :initial-element #\\x))",
  })) {
    it(`report-condition-with-circular-list: ${name}`, async () => {
      const client = await image.connect();
      const evaluation = client.evaluate(`(with-standard-io-syntax (cerror "continue" "~a" ${list}) (+ 1 2))`);
      const stop = stopped(await evaluation.next());
      expect(stop.stop.condition.message.length).to.be.lessThan(25_000);
      await stop.stop.continue();
      expect(returned(await evaluation.next()).values).to.deep.equal(["3"]);
    });
  }

  it("interrupt-bubbling-idiot: a flood of output does not block the interrupt", async () => {
    const client = await image.connect();
    const evaluation = client.evaluate("(loop for i from 0 do (print i) (finish-output))");
    await evaluation.interrupt();
    expect(stopped(await evaluation.next()).stop.reason).to.equal("interrupt");
    aborted(await evaluation.abort());
  });

  for (const hook of ["", "(*debugger-hook* *debugger-hook*)"]) {
    it(`break: stops each time${hook === "" ? "" : ", also under a debugger hook bound anew"}`, async () => {
      const client = await image.connect();
      const evaluation = client.evaluate(`(let (${hook}) (dotimes (i 3 :done) (break)))`);
      for (let time = 0; time < 3; time += 1) {
        const stop: types.Stopped = stopped(await evaluation.next());
        expect([stop.stop.reason, stop.stop.level]).to.deep.equal(["break", 1]);
        await stop.stop.continue();
      }
      expect(returned(await evaluation.next()).values).to.deep.equal([":DONE"]);
    });
  }

  it("locally-bound-debugger-hook: code that handles errors with it does not stop", async () => {
    const client = await image.connect();
    const code = `(defun hooked () (block nil (let ((*debugger-hook* (lambda (condition hook)
      (declare (ignore condition hook)) (return 42)))) (error "never seen")))) (hooked)`;
    expect(await values(client, code)).to.deep.equal(["42"]);
  });

  for (const code of ['(read-from-string "")', "(error 'end-of-file :stream *standard-input*)"]) {
    it(`end-of-file: ${code}`, async () => {
      const client = await image.connect();
      const stop = stopped(await evaluate(client, code));
      expect(stop.stop.condition.type).to.equal("END-OF-FILE");
    });
  }

  for (const [interrupts, continues] of [
    [1, 0],
    [2, 1],
    [4, 2],
  ] as const) {
    it(`interrupt-in-debugger: ${interrupts} interrupts, ${continues} continues`, async () => {
      const client = await image.connect();
      const evaluation = client.evaluate('(error "first")');
      const { stop } = stopped(await evaluation.next());
      for (let level = 2; level <= interrupts + 1; level += 1) {
        client.connection.send({ type: "emacs-interrupt", thread: stop.thread });
        await stopAt(client, stop.thread, level);
      }
      for (let level = interrupts + 1; level > interrupts + 1 - continues; level -= 1) {
        const deepest = await stopAt(client, stop.thread, level);
        await deepest.continue();
        await untilEnded(deepest);
      }
      expect(client.stops).to.have.lengthOf(interrupts + 1 - continues);
      aborted(await evaluation.abort());
    });
  }

  it("flow-control: pings are answered while interrupted and continued", async () => {
    const client = await image.connect();
    const evaluation = client.evaluate("(swank:flow-control-test 300 0)");
    for (let time = 0; time < 3; time += 1) {
      if (!(await evaluation.interrupt())) break;
      const outcome = await evaluation.next();
      if (outcome.status !== "stopped") break;
      await outcome.stop.continue();
    }
    returned(await evaluation.next());
  });

  it("sbcl-world-lock: messages go out while the compiler holds its lock", async () => {
    const client = await image.connect();
    const code = `(let ((*macroexpand-hook* (lambda (function form environment)
      (swank:flow-control-test 10 0) (funcall function form environment))))
      (eval '(macrolet ((number () 123)) (number))))`;
    expect(await values(client, code)).to.deep.equal(["123"]);
  });

  it("disconnect-one-connection: the other keeps working", async () => {
    const client = await image.connect();
    // from 2.31 on, a server that is for one client serves it in the thread that made it
    const [port] = await values(
      client,
      `(let ((ready (sb-thread:make-semaphore)) (port nil))
         (sb-thread:make-thread
           (lambda ()
             (swank::setup-server 0 (lambda (number) (setf port number) (sb-thread:signal-semaphore ready)) :spawn nil nil)))
         (sb-thread:wait-on-semaphore ready)
         port)`,
    );
    const second = await connect({ port: Number(port) });
    expect(await values(second, "(+ 1 2)")).to.deep.equal(["3"]);
    await second.close();
    expect(await values(client, "(+ 3 4)")).to.deep.equal(["7"]);
  });

  it("disconnect-and-reconnect: the image keeps running", async () => {
    const first = await image.connect();
    await values(first, "(defparameter cl-user::*kept* :here)");
    await first.close();
    expect(await values(await image.connect(), "cl-user::*kept*")).to.deep.equal([":HERE"]);
  });

  it("utf-8-source: characters of every kind arrive unchanged", async () => {
    const client = await image.connect();
    const text = "\u0000おはよう😀\tø";
    expect(await values(client, `"${text}"`)).to.deep.equal([`"${text}"`]);
    expect(await values(client, `(map 'list #'char-code "${text}")`)).to.deep.equal([
      `(${[...text].map((char) => char.codePointAt(0)).join(" ")})`,
    ]);
  });
});
