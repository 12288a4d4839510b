import { expect } from "chai";
import { rejection } from "../../support/caught.js";
import { liveImage } from "./live-image.js";
import { nextStop } from "./next-stop.js";
import { values } from "./outcomes.js";

const READY = `(cl:progn
  (cl:defun cl-user::io-work (cl-user::n) cl-user::n)
  (cl:defvar cl-user::*io-go* (sb-thread:make-semaphore))
  (sb-thread:make-thread (cl:lambda () (sb-thread:wait-on-semaphore cl-user::*io-go*) (cl-user::io-work 1)) :name "io-background")
  cl:nil)`;

describe("a client that may not end the image", () => {
  const image = liveImage();

  it("cannot end it from a thread of others that its breakpoint has stopped, and has what it starts there for its own", async () => {
    await image.ask(READY);
    const client = await image.connect({ mayEndImage: false });
    await client.breakpoints.set("io-work", { thread: "any" });
    const reached = nextStop(client);
    await image.ask("(cl:progn (sb-thread:signal-semaphore cl-user::*io-go*) cl:nil)");
    const stop = await reached;
    expect(stop).to.include({ reason: "breakpoint", isOwn: false });
    for (const code of ["(sb-ext:exit :abort t)", "(funcall 'sb-ext:exit)"]) {
      const error = await rejection(stop.evaluateInFrame(0, code), "FRAME_EVALUATION_FAILED");
      expect(error.message).to.include("EXIT-REFUSED");
    }
    const failed = nextStop(client);
    await stop.evaluateInFrame(0, '(progn (sb-thread:make-thread (lambda () (error "started in a frame"))) nil)');
    const own = await failed;
    expect(own.isOwn).to.equal(true);
    expect(own.condition.message).to.equal("started in a frame");
    await own.abort();
    await stop.continue();
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("cannot end it with a printer that describing calls", async () => {
    const client = await image.connect({ mayEndImage: false });
    await values(client, "(defclass io-ending () ()) (defvar *io-ending* (make-instance 'io-ending))");
    await values(client, "(defmethod print-object ((ending io-ending) stream) (sb-ext:exit :abort t))");
    const description = await client.describeSymbol("*io-ending*");
    expect(JSON.stringify(description)).to.include("error printing");
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
  });
});
