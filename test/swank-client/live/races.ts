import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { type SwankClient, SwankError } from "swank-client";
import { encodeFrame, openConnection, runnerOf, tcpOpener } from "swank-client/protocol";
import * as calls from "swank-client/swank";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";
import { WORKER_THREAD } from "../../support/usual-server.js";
import { interruptCompiling } from "./interrupt-compiling.js";
import { liveClient, liveImage } from "./live-image.js";
import { aborted, returned, stopped, values } from "./outcomes.js";
import { continueWith, whenRunning } from "./running.js";

/** Waits until a time of `performance.now()`, more exactly than a timer. */
async function turnsUntil(time: number): Promise<void> {
  while (performance.now() < time) await nextTurn();
}

/** Compiles into the memory in which SBCL before 2.5 makes code jump straight to what it calls. */
const compiled = (lambda: string) => `
  (cl:let ((space (cl:find-symbol "*COMPILE-TO-MEMORY-SPACE*" "SB-C")))
    (cl:progv (cl:and space (cl:list space)) '(:immobile) (cl:compile cl:nil '${lambda}))
    cl:t)`;

/** Threads of the user's that compile, until `*compiling*` is false. */
const COMPILE = `
  (cl:progn
    (cl:setf (cl:symbol-value 'cl-user::*compiling*) cl:t)
    (cl:loop :repeat 2
      :do (sb-thread:make-thread
            (cl:lambda ()
              (cl:loop :while (cl:symbol-value 'cl-user::*compiling*)
                       :do ${compiled("(cl:lambda (x) (cl:list (cl:car x) (cl:length x)))")})))))`;

/** Calls of functions that are encapsulated while clients are there. */
const CALLS = `(cl:lambda (x)
  (sb-thread:make-thread x) (sb-thread:terminate-thread x) (sb-ext:make-timer x) (sb-ext:save-lisp-and-die x) (sb-ext:exit))`;

const ENCAPSULATED = "(sb-kernel:closurep (cl:symbol-function 'sb-thread:make-thread))";

/**
 * Declares tests that provoke races.
 *
 * @param share - How many of the rounds are made: 1 in the slow tests, less in the others.
 */
export function races(share: number): void {
  const times = (most: number) => Math.ceil(most * share);

  describe("A client that connects, at random moments", function () {
    this.timeout(120_000);
    const image = liveImage();

    it("leaves the image to others when it is cancelled again and again", async () => {
      for (let milliseconds = 1; milliseconds <= times(40); milliseconds += 1) {
        const signal = AbortSignal.timeout(Math.ceil(milliseconds / 2));
        const cancelled = await image.connect({ signal }).catch((error: unknown) => error);
        if (cancelled instanceof SwankError) expect(cancelled.code).to.equal("CANCELLED");
        expect(await values(await image.connect({ timeout: 5000 }), "(+ 1 2)")).to.deep.equal(["3"]);
        await image.closeClients();
      }
    });

    it("leaves no thread behind, at whatever moment of the handshake it is cancelled", async () => {
      for (let round = 0; round < times(100); round += 1) {
        const cancel = new AbortController();
        const connecting = image.connect({ signal: cancel.signal }).catch((error: unknown) => error);
        await turnsUntil(performance.now() + ((round * 7) % 25) / 4);
        cancel.abort();
        await connecting;
      }
      await image.closeClients();
      await image.untilTidy();
    });

    it("removes what a client has left that vanished during its handshake", async () => {
      const request = encodeFrame("(:emacs-rex (swank:connection-info) nil t 1)");
      for (let round = 0; round < times(100); round += 1) {
        const socket = connectSocket(image.swank.port, "127.0.0.1").resume();
        await once(socket, "connect");
        socket.write(request);
        await turnsUntil(performance.now() + ((round * 7) % 25) / 10);
        socket.end();
        await once(socket, "close");
      }
      await (await image.connect()).close();
      await image.untilTidy();
    });
  });

  describe("Encapsulation of a function while other threads compile", () => {
    const image = liveImage();

    // Once in about thirty times it would fail, and end the image.
    beforeEach(() => image.ask(COMPILE));
    afterEach(() => image.ask("(cl:setf (cl:symbol-value 'cl-user::*compiling*) cl:nil)"));

    const setAndRemove = async (client: SwankClient): Promise<void> => {
      await image.ask(compiled("(cl:lambda () (cl-user::called 1))"));
      const breakpoint = await client.breakpoints.set("called");
      await client.breakpoints.remove(breakpoint.id);
    };

    it("by a breakpoint leaves the image usable although compiled code calls the function directly", async () => {
      const client = await image.connect();
      await values(client, "(defun called (x) x)");
      for (let round = 0; round < times(100); round += 1) await setAndRemove(client);
      expect(await values(client, "(called 1)")).to.deep.equal(["1"]);
    });

    it("by the first client leaves the image usable although compiled code calls Lisp's functions directly", async () => {
      for (let round = 0; round < times(50); round += 1) {
        await image.ask(compiled(CALLS));
        const client = await image.connect();
        expect(await values(client, "(+ 1 1)")).to.deep.equal(["2"]);
        await client.close();
        while ((await image.ask(ENCAPSULATED)) !== "NIL") await pause(5);
      }
    });
  });

  describe("Evaluation.interrupt at random moments", () => {
    const image = liveClient();

    it("stops the evaluation once if several call it at once", async () => {
      for (let round = 0; round < times(30); round += 1) {
        const evaluation = await whenRunning(image.client, "(loop)");
        const asked = Promise.all([evaluation.interrupt(), evaluation.interrupt(), evaluation.interrupt()]);
        const { stop } = stopped(await evaluation.next());
        expect(await asked).to.include(true);
        expect(stop).to.include({ level: 1, isLive: true });
        const again = await evaluation.next({ timeout: 20 }).catch((error: unknown) => error);
        expect(again).to.include({ code: "WAIT_TIMEOUT" });
        aborted(await evaluation.abort());
      }
    });

    it("right after the request stops the evaluation before or during its run", async () => {
      for (let round = 0; round < times(20); round += 1) {
        const evaluation = image.client.evaluate("(loop)");
        expect(await evaluation.interrupt()).to.equal(true);
        expect(stopped(await evaluation.next()).stop.reason).to.equal("interrupt");
        await evaluation.abort();
      }
    });

    it("works at random moments around the evaluation's end", async () => {
      for (let round = 0; round < times(200); round += 1) {
        const evaluation = image.client.evaluate("(dotimes (i (random 20000) :end) (random 2))");
        const interrupted = evaluation.interrupt();
        const outcome = await evaluation.next();
        await interrupted;
        if (outcome.status === "stopped") {
          expect(outcome.stop.reason).to.equal("interrupt");
          await continueWith(evaluation, "CONTINUE");
          expect(returned(await evaluation.next()).values).to.deep.equal([":END"]);
        } else {
          expect(returned(outcome).values).to.deep.equal([":END"]);
        }
      }
      expect(image.client.stops).to.deep.equal([]);
      expect(await image.values(":fine")).to.deep.equal([":FINE"]);
    });
  });

  describe("Evaluation.abort at random moments", () => {
    const image = liveClient();

    it("ends an evaluation that has not been sent", async () => {
      for (let round = 0; round < times(20); round += 1) {
        const evaluation = image.client.evaluate("(loop)");
        aborted(await evaluation.abort());
      }
    });

    it("works at random moments around the evaluation's end", async () => {
      for (let round = 0; round < times(200); round += 1) {
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

  describe("Interrupts during compilation", () => {
    const image = liveClient();

    it("leave the image able to compile after aborts and interrupts", async () => {
      for (let round = 0; round < times(200); round += 1) await interruptCompiling(image.client, round % 2 === 0);
      expect(await image.values("(funcall (compile nil '(lambda () 1)))")).to.deep.equal(["1"]);
    });
  });

  describe("Disconnection of many clients in turn", () => {
    const image = liveClient();

    it("leaves no threads, sessions or mailboxes behind, however often it happens", async () => {
      // Threads of ours that do something for a moment only may still be there at first.
      const count = `(cl:list (cl:length swank::*connections*)
        (cl:count-if-not (cl:lambda (thread) (cl:search "swank-client" (sb-thread:thread-name thread))) (sb-thread:list-all-threads)))`;
      await image.values("1");
      await image.untilTidy();
      const before = await image.ask(count);
      for (let round = 0; round < times(30); round += 1) {
        const other = await image.connect();
        await values(other, "1");
        await other.close();
      }
      while ((await image.ask(count)) !== before) await pause(50);
    });
  });

  describe("Connection: many connections in sequence to a real Swank", () => {
    let swank: RealSwank;
    before(async () => {
      swank = await startRealSwank();
    });
    after(() => swank.stop());

    it("leave no thread in the image and nothing open in the client process", async () => {
      const open = () => openConnection(tcpOpener({ port: swank.port }));
      const { connection } = await open();
      const threads = async () => {
        const all = await runnerOf(connection).run(calls.image.listThreads);
        return all.map(({ name }) => name).filter((name) => name !== WORKER_THREAD);
      };
      const before = await threads();
      const resources = process.getActiveResourcesInfo().sort();
      for (let count = 0; count < times(1000); count++) await (await open()).connection.close();
      while ((await threads()).length > before.length);
      expect((await threads()).sort()).to.deep.equal(before.sort());
      expect(process.getActiveResourcesInfo().sort()).to.deep.equal(resources);
      await connection.close();
    }).timeout(120_000);
  });
}
