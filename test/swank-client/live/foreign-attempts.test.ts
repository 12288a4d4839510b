import { expect } from "chai";
import type { SwankClient } from "swank-client";
import { rejection } from "../../support/caught.js";
import { killedClient } from "./killed-client.js";
import { liveClient, liveImage } from "./live-image.js";
import { Neighbour, onlyStop } from "./neighbour.js";
import { values } from "./outcomes.js";

describe("Stop inspected by several clients", () => {
  const image = liveImage();
  let neighbour: Neighbour;
  let client: SwankClient;

  beforeEach(async () => {
    neighbour = await Neighbour.of(image);
    client = await image.connect();
    await values(client, "(defvar *began* nil) (defvar *over* nil) (setf *began* nil *over* nil)");
  });

  const OPEN = `
    const [stop] = await client.foreignStops();
    const session = await stop.open();`;
  const WAIT = "(loop until cl-user::*began* do (sleep 0.01))";

  it("ends only that client's code at a client's timeout, and later code that another client's code interrupts", async () => {
    const ending = neighbour.evaluate('(error "looked into")');
    const stop = await neighbour.stop();
    // Each process begins to count its attempts anew.
    const slow = killedClient(
      `${OPEN}
      const waited = session.evaluateInFrame(0, "(progn (setf cl-user::*began* t) (unwind-protect (loop (sleep 1)) (setf cl-user::*over* t)))", { timeout: 3000 });
      tell((await waited.then(() => undefined, (error) => error)).code);`,
      { port: image.swank.port },
    );
    const quick = killedClient(
      `await client.evaluate("${WAIT}").next();
      ${OPEN}
      const { values } = await session.evaluateInFrame(0, "(progn (setf cl-user::*nested* t) (sleep 9) :mine)", { timeout: 60000 });
      tell(values[0]);`,
      { port: image.swank.port },
    );
    expect(await slow).to.be.oneOf(["FRAME_EVALUATION_TIMEOUT", "REQUEST_TIMEOUT"]);
    expect(await quick).to.equal(":MINE");
    await values(client, "(loop until *over* do (sleep 0.01))");
    await neighbour.choose(stop, stop.restarts.length - 1);
    expect(await ending).to.equal("aborted");
  });

  it("is opened once, and again after a failure", async () => {
    const ending = neighbour.evaluate('(error "silent for a while")');
    const stop = await neighbour.stop();
    const deaf = `(sb-sys:without-interrupts (setf cl-user::*over* t) ${WAIT})`;
    const busy = neighbour.evaluate(deaf, stop.thread);
    await values(client, "(loop until *over* do (sleep 0.01))");
    const found = await onlyStop(client);
    const first = found.open();
    const again = first.catch(() => found.open());
    await rejection(found.open(), "REQUEST_TIMEOUT");
    await values(client, "(setf *began* t)");
    const session = await again;
    expect(await found.open()).to.equal(session);
    await busy;
    await neighbour.choose(stop, stop.restarts.length - 1);
    expect(await ending).to.equal("aborted");
  });
});

describe("Stop.abort", () => {
  const image = liveClient();

  it("reports a restart that returns instead of leaving the stop", async () => {
    const { evaluation, stop } = await image.stopIn(
      '(defvar *stay*) (restart-bind ((stay (lambda () :no))) (setf *stay* (find-restart \'stay)) (error "x"))',
    );
    const { values: before } = await stop.evaluateInFrame(
      0,
      "(prog1 (list swank::*sldb-quit-restart*) (setf swank::*sldb-quit-restart* cl-user::*stay*))",
    );
    expect(before).to.have.lengthOf(1);
    const { message } = await rejection(stop.abort(), "REQUEST_ABORTED");
    expect(message).to.equal(
      "The restart ABORT returned instead of transferring control: the thread is still stopped.",
    );
    expect(stop.isLive).to.equal(true);
    await evaluation.abort();
  });
});
