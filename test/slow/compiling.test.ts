import { expect } from "chai";
import { interruptCompiling } from "../swank-client/live/interrupt-compiling.js";
import { liveImage } from "../swank-client/live/live-image.js";
import { values } from "../swank-client/live/outcomes.js";

const MINUTES = 3;

/** Lisp code that counts memory faults, because the printer survives most of them until one ends the image. */
const WATCH = `
  (progn
    (defvar *faults* 0)
    (sb-int:encapsulate 'sb-sys:memory-fault-error 'watch
                        (lambda (function &rest arguments) (incf *faults*) (apply function arguments)))
    (setf (get :faults :watched) t))`;

describe("interrupts during compilation, for minutes", () => {
  const image = liveImage();
  before(async () => {
    image.swank.type(WATCH);
    while ((await image.ask("(cl:get :faults :watched)")) !== "T");
  });

  for (const [what, stops] of [
    ["aborts", false],
    ["timeouts", true],
  ] as const) {
    it(`keep the image able to compile, and never read invalid objects: ${what}`, async function () {
      this.timeout((MINUTES + 2) * 60_000);
      const client = await image.connect();
      const end = Date.now() + MINUTES * 60_000;
      for (let round = 1; Date.now() < end; round += 1) {
        await interruptCompiling(client, stops);
        expect(await values(client, "(funcall (compile nil '(lambda () 1)))")).to.deep.equal(["1"]);
        if (round % 100 === 0) expect(await image.ask("cl-user::*faults*"), `after ${round} rounds`).to.equal("0");
      }
    });
  }
});
