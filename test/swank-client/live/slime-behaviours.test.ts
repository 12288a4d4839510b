import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import { connect, type Stop, type SwankClient, type types } from "swank-client";
import { liveClient } from "./live-image.js";
import { aborted, returned, stopped, values } from "./outcomes.js";

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
  const image = liveClient();

  for (const depth of [1, 2, 3]) {
    it(`async-eval-debugging: ${depth} levels, all closed by one abort`, async () => {
      const { evaluation, stop } = await image.stopIn('(error "first")');
      for (let level = 2; level <= depth; level += 1) await climb(image.client, stop.thread, level);
      expect(image.client.stops.map(({ level }) => level)).to.deep.equal(
        Array.from({ length: depth }, (_, index) => index + 1),
      );
      aborted(await evaluation.abort());
      expect(image.client.stops).to.deep.equal([]);
    });
  }

  it("unwind-to-previous-level: from 4 to 3 to 2, one at a time", async () => {
    const { evaluation, stop } = await image.stopIn('(error "first")');
    for (let level = 2; level <= 4; level += 1) await climb(image.client, stop.thread, level);
    for (const level of [4, 3]) {
      const deepest = await stopAt(image.client, stop.thread, level);
      expect(deepest.restarts[0]?.description).to.equal(`Return to sldb level ${level - 1}.`);
      await deepest.invokeRestart(0);
      await untilEnded(deepest);
    }
    expect(image.client.stops.map(({ level }) => level)).to.deep.equal([1, 2]);
    expect(stop.isLive).to.equal(true);
    aborted(await evaluation.abort());
  });

  for (const hook of ["", "(*debugger-hook* *debugger-hook*)"]) {
    it(`break: stops each time${hook === "" ? "" : ", also under a debugger hook bound anew"}`, async () => {
      const evaluation = image.client.evaluate(`(let (${hook}) (dotimes (i 3 :done) (break)))`);
      for (let time = 0; time < 3; time += 1) {
        const stop: types.Stopped = stopped(await evaluation.next());
        expect([stop.stop.reason, stop.stop.level]).to.deep.equal(["break", 1]);
        await stop.stop.continue();
      }
      expect(returned(await evaluation.next()).values).to.deep.equal([":DONE"]);
    });
  }

  for (const [interrupts, continues] of [
    [1, 0],
    [2, 1],
    [4, 2],
  ] as const) {
    it(`interrupt-in-debugger: ${interrupts} interrupts, ${continues} continues`, async () => {
      const { evaluation, stop } = await image.stopIn('(error "first")');
      for (let level = 2; level <= interrupts + 1; level += 1) {
        image.client.connection.send({ type: "emacs-interrupt", thread: stop.thread });
        await stopAt(image.client, stop.thread, level);
      }
      for (let level = interrupts + 1; level > interrupts + 1 - continues; level -= 1) {
        const deepest = await stopAt(image.client, stop.thread, level);
        await deepest.continue();
        await untilEnded(deepest);
      }
      expect(image.client.stops).to.have.lengthOf(interrupts + 1 - continues);
      aborted(await evaluation.abort());
    });
  }

  it("flow-control: pings are answered while interrupted and continued", async () => {
    const evaluation = image.client.evaluate("(swank:flow-control-test 300 0)");
    for (let time = 0; time < 3; time += 1) {
      if (!(await evaluation.interrupt())) break;
      const outcome = await evaluation.next();
      if (outcome.status !== "stopped") break;
      await outcome.stop.continue();
    }
    returned(await evaluation.next());
  });

  it("sbcl-world-lock: messages go out while the compiler holds its lock", async () => {
    const code = `(let ((*macroexpand-hook* (lambda (function form environment)
      (swank:flow-control-test 10 0) (funcall function form environment))))
      (eval '(macrolet ((number () 123)) (number))))`;
    expect(await image.values(code)).to.deep.equal(["123"]);
  });

  it("disconnect-one-connection: the other keeps working", async () => {
    // from 2.31 on, a server that is for one client serves it in the thread that made it
    const [port] = await image.values(`(let ((ready (sb-thread:make-semaphore)) (port nil))
         (sb-thread:make-thread
           (lambda ()
             (swank::setup-server 0 (lambda (number) (setf port number) (sb-thread:signal-semaphore ready)) :spawn nil nil)))
         (sb-thread:wait-on-semaphore ready)
         port)`);
    const second = await connect({ port: Number(port) });
    expect(await values(second, "(+ 1 2)")).to.deep.equal(["3"]);
    await second.close();
    expect(await image.values("(+ 3 4)")).to.deep.equal(["7"]);
  });
});
