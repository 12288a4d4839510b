import { expect } from "chai";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { liveClient } from "./live-image.js";
import { nextStop } from "./next-stop.js";
import { stopped } from "./outcomes.js";

describe("Stop", () => {
  const image = liveClient();

  it("is the same object in the outcome, the evaluation, the client and its event", async () => {
    const told = nextStop(image.client);
    const { evaluation, stop } = await image.stopIn('(error "x")');
    expect(evaluation.stop).to.equal(stop);
    expect(image.client.stops[0]).to.equal(stop);
    expect(await told).to.equal(stop);
    expect(stop.evaluation).to.equal(evaluation);
    expect(await stop.open()).to.equal(stop);
    await evaluation.abort();
  });

  it("keeps plain JSON data, even after it has ended", async () => {
    const { evaluation, stop } = await image.stopIn('(defun f (n) (error "x ~d" n)) (f 7)');
    const before = JSON.stringify(stop.data);
    await evaluation.abort();
    expect(stop.isLive).to.equal(false);
    expect(JSON.stringify(stop.data)).to.equal(before);
    expect(JSON.parse(before).condition).to.deep.equal(stop.data.condition);
    expect(stop.data.locals).to.deep.equal([{ name: "N", value: "7", marks: ["argument"] }]);
  });

  it("has one signal, which is aborted when it ends, whether it was asked for before or after", async () => {
    const { evaluation, stop } = await image.stopIn('(list (restart-case (error "x") (use-it () 1)) (error "y"))');
    const { ended } = stop;
    expect([ended.aborted, stop.ended]).to.deep.equal([false, ended]);
    await stop.invokeRestart(0);
    expect(ended.aborted).to.equal(true);
    expect(ended.reason).to.have.property("message", "The thread left the stop, or the connection closed.");
    const { stop: second } = stopped(await evaluation.next());
    await evaluation.abort();
    expect(second.ended.aborted).to.equal(true);
    expect(second.ended.reason).to.equal(ended.reason);
  });

  it("runs descriptors in its thread until it ends", async () => {
    const { evaluation, stop } = await image.stopIn('(error "x")');
    expect(await stop.run(calls.debugging.backtrace, 0, 2)).to.have.length(2);
    await evaluation.abort();
    const error = await rejection(stop.run(calls.debugging.backtrace, 0, 2), "STALE_SESSION");
    expect(error.message).to.match(/^swank:backtrace: Thread \d+ has left the stop at level 1\.$/);
  });
});
