import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import type { SwankClient } from "swank-client";
import { rejection } from "../../support/caught.js";
import { type LiveImage, liveClient, liveImage } from "./live-image.js";
import { Neighbour } from "./neighbour.js";

const HOLD = '(sb-c::with-world-lock () (error "held"))';

/** The restart of Swank that ends a request. */
const ABORT = 0;

/** Stops a thread that holds the lock, as a user does in Emacs. */
async function held(
  image: LiveImage,
  work: (holder: { thread: number; level: number }) => Promise<void>,
): Promise<void> {
  const user = await Neighbour.of(image);
  const ended = user.evaluate(HOLD);
  const stop = await user.stop();
  try {
    await work({ thread: stop.thread, level: stop.level });
  } finally {
    await user.choose(stop, ABORT);
    await ended;
  }
}

describe("While the user's stopped thread holds the compiler's lock", () => {
  const image = liveImage();

  it("a client's first request in an image without the runtime fails, and the next one after the stop works", async () => {
    const refused: SwankClient[] = [];
    await held(image, async (holder) => {
      const error = await rejection(
        image.connect().then(async (client) => {
          refused.push(client);
          await client.eval("(+ 1 2)");
        }),
        "LOCK_HELD",
      );
      expect(error.message).to.match(/^loading the runtime: It needs the compiler's lock \(".+"\), which thread \d+ /);
      expect(error.details.holder).to.deep.equal(holder);
    });
    const client = refused[0] ?? (await image.connect());
    expect(await client.eval("(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("an evaluation that needs it fails, and one that does not returns", async () => {
    const client = await image.connect();
    await client.eval("(defvar *held-done* 0)");
    await held(image, async (holder) => {
      expect(await client.eval("(incf *held-done*)")).to.deep.equal(["1"]);
      const code = "(incf *held-done*) (sb-c::with-world-lock () (incf *held-done* 10))";
      const error = await rejection(client.eval(code), "LOCK_HELD");
      expect(error.details.holder).to.deep.equal(holder);
      expect(error.remedy).to.match(/^Resume or abort the stop \d+\/1, then try again\. /);
    });
    expect(await client.eval("*held-done*")).to.deep.equal(["2"]);
  });

  it("an evaluation that waits for a lock of the program keeps waiting", async () => {
    const client = await image.connect();
    await client.eval('(defvar *program-lock* (sb-thread:make-mutex :name "program"))');
    const user = await Neighbour.of(image);
    const ended = user.evaluate('(sb-thread:with-mutex (cl-user::*program-lock*) (error "held"))');
    const stop = await user.stop();
    const waiting = client.evaluate("(sb-thread:with-mutex (*program-lock*) :taken)");
    await pause(1500);
    await user.choose(stop, ABORT);
    await ended;
    expect(await waiting.next()).to.deep.include({ status: "returned", values: [":TAKEN"] });
  });

  it("many waiting requests all fail", async () => {
    const client = await image.connect();
    await client.eval("1");
    await held(image, async () => {
      const call = () => client.request(read("(sb-c::with-world-lock () 1)"), { label: "compiling" });
      const errors = await Promise.all(Array.from({ length: 30 }, () => rejection(call(), "LOCK_HELD")));
      expect(errors).to.have.lengthOf(30);
    });
  });
});

describe("While a running thread holds the compiler's lock", () => {
  const image = liveClient();
  const TAKE = "(sb-c::with-world-lock () 1)";

  it("an evaluation whose time is up names the lock and its holder", async () => {
    await image.client.eval("(defvar *running-free* nil)");
    const hold = "(sb-c::with-world-lock () (loop until *running-free* do (sleep 1/20)))";
    await image.client.eval(`(progn (sb-thread:make-thread (lambda () (sleep 1) ${hold})) 1)`);
    await pause(1500);
    const waiting = image.client.evaluate(TAKE);
    await pause(500);
    await waiting.interrupt();
    expect(waiting.awaitedLock).to.match(/^the compiler's lock \(".+"\), which thread \d+ holds$/);
    await image.client.eval("(setf *running-free* t)");
    await waiting.abort();
    expect(await image.client.eval(TAKE)).to.deep.equal(["1"]);
  });

  it("an evaluation that is interrupted while it runs waits for no lock", async () => {
    const running = image.client.evaluate("(loop (sleep 1/100))");
    await pause(500);
    await running.interrupt();
    expect(running.awaitedLock).to.equal(undefined);
    await running.abort();
  });
});

describe("While the user's stopped thread holds the compiler's lock in an image without the runtime", () => {
  const image = liveImage();

  it("the first requests of clients that connect at once fail, although they came before the image could watch them", async () => {
    await held(image, async () => {
      const first = async () => (await image.connect()).eval("(+ 1 2)");
      await Promise.all(Array.from({ length: 12 }, () => rejection(first(), "LOCK_HELD")));
    });
  });
});
