import { expect } from "chai";
import type { Stop } from "swank-client";
import { rejection } from "../../support/caught.js";
import { liveClient } from "./live-image.js";
import { stopped } from "./outcomes.js";

describe("Stop.evaluateInFrame with a variable that has no value at this place", () => {
  const image = liveClient();
  let stop: Stop;
  let frame: number;

  beforeEach(async () => {
    await image.values(`(defun fail () (restart-case (error "x") (go-on () 2)))
       (defun early (x) (let ((y (funcall 'fail))) (let ((z (list y))) (list x y z))))`);
    ({ stop } = stopped(await image.client.evaluate("(list (early 1))").next()));
    frame = stop.condition.frames.find(({ call }) => call.startsWith("(EARLY "))?.index ?? -1;
  });

  for (const code of ["y", "(list x z)", "(setf y 1)", "(setq z 1)"])
    it(`says so: ${code}`, async () => {
      const error = await rejection(stop.evaluateInFrame(frame, code), "FRAME_EVALUATION_FAILED");
      expect(error.message).to.match(
        /\b[YZ] is a variable of this function, but the compiler keeps no value of it at this place\./,
      );
    });

  it("evaluates code that binds its name, or does not name it", async () => {
    expect((await stop.evaluateInFrame(frame, "(let ((y 2)) (setf y (+ x y)) y)")).values).to.deep.equal(["3"]);
  });
});
