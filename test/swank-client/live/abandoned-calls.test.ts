import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import type { SwankClient } from "swank-client";
import { rejection } from "../../support/caught.js";
import { killedClient } from "./killed-client.js";
import { liveImage } from "./live-image.js";
import { stopped, values } from "./outcomes.js";

/** What runs until it is ended. It sleeps, except for one, so that these tests leave the processors to others. */
const ENDLESS = [
  "(cl:loop)",
  "(cl:sleep 100000)",
  ...[
    "(cl:loop (cl:ignore-errors (cl:loop)))",
    "(cl:unwind-protect (cl:loop) (cl:loop))",
    "(cl:progn (cl:catch 'here (cl:unwind-protect (cl:loop) (cl:throw 'here 1))) (cl:loop))",
    "(sb-thread:wait-on-semaphore (sb-thread:make-semaphore))",
    "(cl:compile nil '(cl:lambda () (cl:macrolet ((endless () (cl:loop))) (endless))))",
  ].map(sleeping),
];

/** The same for tests that run all at once. */
const ALL_ENDLESS = ENDLESS.map(sleeping);

function sleeping(code: string): string {
  return code.replaceAll("(cl:loop)", "(cl:loop (cl:sleep 0.01))");
}

describe("SwankClient.call: an abandoned call", () => {
  const image = liveImage();

  for (const runtime of [true, false]) {
    describe(runtime ? "with the runtime" : "without the runtime", () => {
      let client: SwankClient;
      beforeEach(async () => {
        client = await image.connect({ runtime });
        if (runtime) await client.prepare();
      });

      for (const code of ENDLESS) {
        it(`is ended in the image after its timeout: ${code}`, async () => {
          await rejection(client.request(read(code), { label: "endless", timeout: 100 }), "REQUEST_TIMEOUT");
          await image.untilTidy();
          expect(await client.request(read("(cl:+ 1 2)"), { label: "sum" })).to.equal(3);
        });
      }

      it("is ended when its signal is aborted, even before it has begun", async () => {
        for (const delay of [200, 0, 1, 5]) {
          const cancelling = new AbortController();
          const call = client.request(read("(cl:loop)"), { label: "endless", signal: cancelling.signal });
          if (delay > 0) await pause(delay);
          cancelling.abort();
          await rejection(call, "CANCELLED");
        }
        await image.untilTidy();
      });

      it("is ended when its client closes", async () => {
        const ends = ALL_ENDLESS.map((code) =>
          rejection(client.request(read(code), { label: "endless" }), "CONNECTION_CLOSED"),
        );
        await pause(100);
        await client.close();
        await Promise.all(ends);
        await image.untilTidy();
      });

      it("is ended when its client is killed", async () => {
        await killedClient(
          `const { read } = await import("sexp-parser");
          for (const code of ${JSON.stringify(ALL_ENDLESS)}) void client.request(read(code), { label: "endless" });
          await client.request(read("(cl:sleep 0.2)"), { label: "pause" });
          tell("running");`,
          { port: image.swank.port, runtime },
        );
        await image.untilTidy();
        expect(await client.request(read("(cl:+ 1 2)"), { label: "sum" })).to.equal(3);
      });

      it("does not end other calls or those of other clients", async () => {
        const other = await image.connect({ runtime });
        const slow = read("(cl:progn (cl:sleep 1) 1)");
        const mine = client.request(slow, { label: "slow" });
        const theirs = other.request(slow, { label: "slow" });
        await rejection(client.request(read("(cl:loop)"), { label: "endless", timeout: 50 }), "REQUEST_TIMEOUT");
        expect(await Promise.all([mine, theirs])).to.deep.equal([1, 1]);
      });
    });
  }

  it("is ended in a stopped thread without changing the stop", async () => {
    const client = await image.connect();
    const evaluation = client.evaluate('(restart-case (error "x") (give () :given))');
    const { stop } = stopped(await evaluation.next());
    for (const code of [
      "(cl:loop)",
      "(cl:loop (cl:ignore-errors (cl:loop)))",
      "(cl:unwind-protect (cl:loop) (cl:sleep 1))",
    ]) {
      const options = { label: "endless", thread: stop.thread, timeout: 200 };
      await rejection(client.request(read(code), options), "REQUEST_TIMEOUT");
      expect((await stop.frames()).frames).not.to.deep.equal([]);
    }
    expect(stop.isLive).to.equal(true);
    expect(client.stops).to.have.lengthOf(1);
    await stop.invokeRestart(stop.restarts.findIndex(({ name }) => name === "GIVE"));
    expect(await evaluation.next()).to.deep.include({ status: "returned", values: [":GIVEN"] });
  });

  it("is ended if it waits for a lock that a stopped thread holds, even through another thread", async () => {
    const client = await image.connect();
    await client.eval(
      '(defvar *ac-outer* (sb-thread:make-mutex)) (defvar *ac-lock* (sb-thread:make-mutex :name "held"))',
    );
    const evaluation = client.evaluate('(sb-thread:with-mutex (*ac-lock*) (error "x"))');
    const { stop } = stopped(await evaluation.next());
    const waiting = client.evaluate("(sb-thread:with-mutex (*ac-outer*) (sb-thread:with-mutex (*ac-lock*) 1))");
    const call = (lock: string) => client.request(read(`(sb-thread:with-mutex (${lock}) 2)`), { label: "lock" });
    for (const lock of ["cl-user::*ac-lock*", "cl-user::*ac-outer*"]) {
      const error = await rejection(call(lock), "LOCK_HELD");
      expect(error.message).to.match(/^lock: It needs the lock "held", which thread \d+ holds while it is stopped as /);
      expect(error.details.holder).to.deep.equal({ thread: stop.thread, level: 1 });
    }
    await stop.abort();
    expect(await waiting.next()).to.deep.include({ status: "returned", values: ["1"] });
    expect(await call("cl-user::*ac-lock*")).to.equal(2);
  });

  it("causes no stop if it fails after its timeout", async () => {
    const client = await image.connect();
    const failing = read(
      '(cl:handler-bind ((cl:condition (cl:function cl:identity))) (cl:sleep 0.15) (cl:error "late"))',
    );
    const stops: unknown[] = [];
    client.on("stop", (stop) => stops.push(stop));
    for (let round = 0; round < 10; round += 1) {
      await rejection(client.request(failing, { label: "late", timeout: 140 + round * 2 }), "REQUEST_TIMEOUT").catch(
        () => undefined,
      );
    }
    await image.untilTidy();
    expect(stops).to.deep.equal([]);
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
  });
});
