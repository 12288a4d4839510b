import { expect } from "chai";
import type { Stop, types } from "swank-client";
import { liveClient } from "./live-image.js";
import { returned, stopped } from "./outcomes.js";

describe("Stop at an error that a step ran into", () => {
  const image = liveClient();
  let evaluation: types.Evaluation;
  let stop: Stop;
  let frame: number;

  beforeEach(async () => {
    await image.values(`(defclass box () ((v :initarg :v :reader v)))
       (defun box-text (box) (format nil "<box ~a>" (v box)))
       (defmethod print-object ((box box) stream) (write-string (box-text box) stream))
       (defun work (box) (let ((v (v box))) (* v 2)))
       (defun begin () (list (work (make-instance 'box))))
       (defmethod slot-unbound (class (box box) slot) nil)`);
    await image.client.breakpoints.set("work");
    evaluation = image.client.evaluate("(begin)");
    ({ stop } = stopped(await evaluation.next()));
    while (stop.reason !== "error") {
      await stop.step("over");
      ({ stop } = stopped(await evaluation.next()));
    }
    const { frames } = await stop.frames();
    frame = frames.findIndex((one) => one.function.endsWith("WORK"));
  });

  it("shows values with printing methods that were compiled for stepping", async () => {
    const { locals } = await stop.frameLocals(frame);
    expect(locals.map(({ name, value }) => [name, value])).to.deep.include(["BOX", "<box NIL>"]);
  });

  it("evaluateInFrame runs code that was compiled for stepping", async () => {
    expect((await stop.evaluateInFrame(frame, "(box-text box)")).values).to.deep.equal(['"<box NIL>"']);
  });

  it("returnFromFrame returns the value of such code", async () => {
    await stop.returnFromFrame(frame, "(box-text box)");
    let outcome = await evaluation.next();
    for (; outcome.status === "stopped"; outcome = await evaluation.next()) await outcome.stop.continue();
    expect(returned(outcome).values).to.deep.equal(['("<box NIL>")']);
  });
});
