import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import { connect, type SwankClient } from "swank-client";
import { openConnection, tcpOpener } from "swank-client/protocol";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { frame } from "../../support/fake-swank.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";
import { isBeyondSlynk } from "../../support/usual-server.js";
import { killedClient } from "./killed-client.js";
import { liveClient, liveImage } from "./live-image.js";
import { stopped, values } from "./outcomes.js";

/** Evaluates `codes`, and says so once they run. */
function running(codes: readonly string[]): string {
  return `
    await client.prepare();
    for (const code of ${JSON.stringify(codes)}) client.evaluate(code, { outputLimit: Infinity });
    await client.evaluate("(sleep 0.2)").next();
    tell("running");`;
}

/** Names of Swank's threads in the debugger, of whoever's. */
const PARKED = `(cl:loop :for thread :in (sb-thread:list-all-threads)
  :when (cl:plusp (cl:or (sb-thread:symbol-value-in-thread 'swank::*sldb-level* thread cl:nil) 0)) :collect (sb-thread:thread-name thread))`;

describe("Disconnection of a client", () => {
  const image = liveClient();

  it("by close ends the client's running and stopped evaluations, with cleanup forms", async () => {
    await image.values("(defparameter *cleaned* 0)");
    for (const code of ["(loop)", '(error "x")', "(sleep 1000)", "(loop (print 1))", "(unwind-protect (loop) (loop))"])
      image.client.evaluate(`(unwind-protect (progn (sb-ext:atomic-incf (car *count*)) ${code}) (incf *cleaned*))`);
    await image.values("(defvar *count* (list 0))");
    const halted = image.client.evaluate('(break "here")');
    const { stop } = stopped(await halted.next());
    await image.client.close();
    expect(stop.isLive).to.equal(false);
    expect(halted.isSettled).to.equal(true);
    await image.untilTidy();
    expect(await image.ask(PARKED)).to.equal("NIL");
  });

  it("during the first evaluation leaves nothing in the image", async () => {
    for (let round = 0; round < 10; round += 1) {
      const fresh = await image.connect();
      const evaluation = fresh.evaluate("(loop)");
      if (round % 2 === 0) await pause(round);
      await fresh.close();
      expect((await evaluation.next()).status).to.be.oneOf(["aborted", "lost"]);
    }
  });

  /** Kills a client that evaluates this, and waits until nothing of it is left. */
  async function kill(codes: readonly string[]): Promise<void> {
    await killedClient(running(codes), { port: image.swank.port });
    await image.untilTidy();
    expect(await image.ask(PARKED)).to.equal("NIL");
    // Its connection and the observer's: Swank has noticed that the third is gone.
    while ((await image.ask("(cl:length swank::*connections*)")) !== "2") await pause(20);
    expect(await image.values("(+ 1 2)")).to.deep.equal(["3"]);
  }

  it("by a kill leaves nothing of stopped evaluations", () => kill(['(error "x")', "(break)", "(car 5)"]));

  it("by a kill leaves nothing of running ones, and makes no thread of Swank's look at its stack, where it could be ended with a lock of the C library", async () => {
    await image.values(`(defvar *looks* (list 0))
       (sb-int:encapsulate 'swank::backtrace 'looks
         (lambda (backtrace &rest arguments) (sb-ext:atomic-incf (car *looks*)) (apply backtrace arguments)))`);
    try {
      await kill([
        ...["(loop)", "(sleep 100000)", "(handler-case (loop) (error () nil))"],
        ...["(unwind-protect (loop) (loop))", "(unwind-protect (sleep 1000) (sleep 1000))"],
        ...["(loop (print 1))", "(loop (print 2) (finish-output))"],
        '(loop (format *error-output* "~a" (make-string 10000)))',
      ]);
      expect(await image.values("*looks*")).to.deep.equal(["(0)"]);
    } finally {
      await image.values("(sb-int:unencapsulate 'swank::backtrace 'looks)");
    }
  });

  it("ends a thread that Swank has made for a request, and that it has not given the request", async () => {
    const form = "(cl:progn (swank::spawn-worker-thread swank::*emacs-connection*) cl:nil)";
    await image.client.request(read(form), { label: "an idle worker" });
    await image.client.close();
    await image.untilTidy();
  });

  if (!isBeyondSlynk("Its REPLs are channels."))
    it("ends a request that prints to the client's REPL, which shows nothing any more", async () => {
      await image.client.run(calls.repl.createRepl);
      const form = `(cl:loop (cl:write-char #\\x (swank::connection.user-output swank::*emacs-connection*)) (cl:sleep 1/100))`;
      const request = image.client.request(read(form), { label: "printing" }).catch((error: unknown) => error);
      await pause(100);
      await image.client.close();
      await request;
      await image.untilTidy();
    });

  it("leaves a thread of the program that has the name and the connection of Swank's", async () => {
    await image.values(`(defvar *beats* (list 0))
       (let ((connection swank::*emacs-connection*))
         (sb-thread:make-thread
           (lambda ()
             (let ((swank::*emacs-connection* connection))
               (loop repeat 100 do (sb-ext:atomic-incf (car *beats*)) (sleep 0.01))
               (setf (car *beats*) -1)))
           :name "worker"))`);
    await image.client.close();
    while ((await image.ask("(cl:car cl-user::*beats*)")) !== "-1") await pause(50);
  });

  it("does not end evaluations of other clients", async () => {
    const evaluation = image.client.evaluate("(sleep 0.5) :survived");
    const halted = image.client.evaluate('(cerror "go on" "x") :continued');
    const stop = stopped(await halted.next());
    const other = await image.connect();
    other.evaluate("(loop)");
    await other.close();
    await killedClient(running(["(loop)"]), { port: image.swank.port });
    expect(await evaluation.next()).to.deep.include({ status: "returned", values: [":SURVIVED"] });
    expect(stop.stop.isLive).to.equal(true);
    await stop.stop.invokeRestart(0);
    expect(await halted.next()).to.deep.include({ status: "returned", values: [":CONTINUED"] });
  });

  it("leaves nothing in the client's process that keeps it running", async () => {
    const program = `
      import { connect } from "swank-client";
      const client = await connect({ port: ${image.swank.port} });
      await client.evaluate("(+ 1 2)").next({ timeout: 1e6, signal: new AbortController().signal });
      const running = client.evaluate("(loop)");
      await running.next({ timeout: 50 }).catch(() => undefined);
      await running.interrupt();
      await running.next();
      const halted = client.evaluate('(error "x")');
      await halted.next();
      await client.close();`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: "inherit" });
    expect(await once(child, "exit")).to.deep.equal([0, null]);
  });
});

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

  describe("of a client that loads only the guard of its connection, which ends calls", () => {
    const runtime = false;
    let client: SwankClient;
    beforeEach(async () => {
      client = await image.connect({ runtime });
    });

    for (const code of ENDLESS)
      it(`is ended in the image after its timeout: ${code}`, async () => {
        await rejection(client.request(read(code), { label: "endless", timeout: 100 }), "REQUEST_TIMEOUT");
        await image.untilTidy();
        expect(await client.request(read("(cl:+ 1 2)"), { label: "sum" })).to.equal(3);
      });

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
      const slow = read("(cl:progn (cl:sleep 0.3) 1)");
      const mine = client.request(slow, { label: "slow" });
      const theirs = other.request(slow, { label: "slow" });
      await rejection(client.request(read("(cl:loop)"), { label: "endless", timeout: 50 }), "REQUEST_TIMEOUT");
      expect(await Promise.all([mine, theirs])).to.deep.equal([1, 1]);
    });
  });

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
    for (let round = 0; round < 10; round += 1)
      await rejection(client.request(failing, { label: "late", timeout: 140 + round * 2 }), "REQUEST_TIMEOUT").catch(
        () => undefined,
      );
    await image.untilTidy();
    expect(stops).to.deep.equal([]);
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
  });
});

/** Requests whose replies Swank writes one after another. */
const REQUESTS = [1, 2, 3, 4].map((id) => `(:emacs-rex (swank:connection-info) "COMMON-LISP-USER" t ${id})`);

/** Starts a thread that holds a lock that Swank needs for each message, until it is ended. */
const HOLD = "(sb-thread:make-thread (lambda () (sb-thread:with-mutex (swank/sbcl::*mailbox-lock*) (sleep 600))))";

const RELEASE = "(sb-thread:terminate-thread (sb-thread:mutex-owner swank/sbcl::*mailbox-lock*))";

describe("An image that did not answer while clients tried to connect", function () {
  this.timeout(120_000);
  let image: RealSwank;
  beforeEach(async () => {
    image = await startRealSwank();
  });
  afterEach(() => image.stop());

  it("accepts clients after others have given up", async () => {
    image.type(HOLD);
    await pause(300);
    const opening = [1, 2, 3, 4, 5].map(() =>
      openConnection(tcpOpener({ port: image.port }), { secret: false, timeout: 300 }),
    );
    await Promise.all(opening.map((each) => rejection(each, "NOT_SWANK")));
    image.type(RELEASE);
    await pause(300);
    const client = await connect({ port: image.port, secret: false, timeout: 5000 });
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
    await client.close();
  });

  it("accepts clients while one is connected, although another process has ended before its requests were answered", async () => {
    const first = await connect({ port: image.port, secret: false });
    expect(await values(first, "(+ 1 2)")).to.deep.equal(["3"]);
    image.process.kill("SIGSTOP");
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const socket = connectSocket(image.port, "127.0.0.1");
      await once(socket, "connect");
      for (const request of REQUESTS) socket.write(frame(request));
      await pause(50);
      socket.destroy();
    }
    image.process.kill("SIGCONT");
    await pause(300);
    const client = await connect({ port: image.port, secret: false, timeout: 5000 });
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
    expect(first.stops).to.deep.equal([]);
    await client.close();
    await first.close();
  });
});
