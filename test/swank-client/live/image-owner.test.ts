import { expect } from "chai";
import type { SwankClient } from "swank-client";
import { rejection } from "../../support/caught.js";
import { LiveImage, liveImage } from "./live-image.js";
import { nextStop } from "./next-stop.js";
import { evaluate, stopped, values } from "./outcomes.js";
import { retry, stepThrough } from "./step-through.js";

const READY = `(cl:progn
  (cl:defun cl-user::io-work (cl-user::n) cl-user::n)
  (cl:defvar cl-user::*io-go* (sb-thread:make-semaphore))
  (sb-thread:make-thread (cl:lambda () (sb-thread:wait-on-semaphore cl-user::*io-go*) (cl-user::io-work 1)) :name "io-background")
  cl:nil)`;

describe("SwankClient with mayEndImage false", () => {
  const image = liveImage();

  it("cannot end the image from another client's thread that its breakpoint has stopped, and owns the threads that it starts there", async () => {
    await image.ask(READY);
    const client = await image.connect({ mayEndImage: false });
    await client.breakpoints.set("io-work", { thread: "any" });
    const reached = nextStop(client);
    await image.ask("(cl:progn (sb-thread:signal-semaphore cl-user::*io-go*) cl:nil)");
    const stop = await reached;
    expect(stop.data).to.include({ reason: "breakpoint", isOwn: false });
    for (const code of ["(sb-ext:exit :abort t)", "(funcall 'sb-ext:exit)"]) {
      const error = await rejection(stop.evaluateInFrame(0, code), "FRAME_EVALUATION_FAILED");
      expect(error.message).to.include("EXIT-REFUSED");
    }
    const failed = nextStop(client);
    await stop.evaluateInFrame(0, '(progn (sb-thread:make-thread (lambda () (error "started in a frame"))) nil)');
    const own = await failed;
    expect(own.data.isOwn).to.equal(true);
    expect(own.condition.message).to.equal("started in a frame");
    await own.abort();
    await stop.continue();
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
  });

  const ELSEWHERE: readonly [where: string, code: string][] = [
    ["an interrupt of the main thread", "(sb-thread:interrupt-thread (sb-thread:main-thread) CODE)"],
    [
      "a timer that runs in the main thread",
      "(sb-ext:schedule-timer (sb-ext:make-timer CODE :thread (sb-thread:main-thread)) 1/100)",
    ],
    ["a finalizer", "(progn (sb-ext:finalize (list 1 2) CODE) (sb-ext:gc :full t))"],
  ];
  for (const [where, code] of ELSEWHERE)
    it(`cannot end the image with ${where}`, async () => {
      const client = await image.connect({ mayEndImage: false });
      const exit = "(lambda () (setf *io-reached* t) (sb-ext:exit :abort t))";
      await values(client, "(defvar *io-reached*) (setf *io-reached* nil)");
      await values(
        client,
        `${code.replace("CODE", exit)} (loop until *io-reached* do (sb-ext:gc :full t) (sleep 1/50))`,
      );
      expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
      image.swank.type("(setf cl-user::*io-reached* :main-goes-on)");
      await values(client, "(loop until (eq *io-reached* :main-goes-on) do (sleep 1/50))");
    });

  it("prints the refusal of an exit in an interrupt", async () => {
    const client = await image.connect({ mayEndImage: false });
    const code = `(let ((done nil))
      (sb-thread:interrupt-thread (sb-thread:main-thread) (lambda () (unwind-protect (sb-ext:exit :abort t) (setf done t))))
      (loop until done do (sleep 1/50)) (sleep 1/10))`;
    expect((await evaluate(client, code)).stderr).to.include("EXIT is refused: it would end the image");
  });

  it("cannot end the image with a printer that a description calls", async () => {
    const client = await image.connect({ mayEndImage: false });
    await values(client, "(defclass io-ending () ()) (defvar *io-ending* (make-instance 'io-ending))");
    await values(client, "(defmethod print-object ((ending io-ending) stream) (sb-ext:exit :abort t))");
    const description = await client.describeSymbol("*io-ending*");
    expect(JSON.stringify(description)).to.include("error printing");
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
  });
});

/** What a user may have set in an image before anything attaches to it. */
const SETTINGS: readonly string[] = [
  "(proclaim '(optimize (debug 3)))",
  "(sb-ext:restrict-compiler-policy 'debug 3)",
  "(sb-ext:restrict-compiler-policy 'debug 0 0)",
  "(proclaim '(optimize (safety 0)))",
  "(sb-ext:restrict-compiler-policy 'safety 0 0)",
  "(proclaim '(optimize (speed 3) (space 3) (safety 0) (debug 0)))",
  "(proclaim '(optimize (debug 3) (speed 3) (compilation-speed 3)))",
  "(proclaim '(optimize (sb-c:insert-step-conditions 3)))",
  "(sb-ext:set-macro-policy '((debug 3) (safety 0)))",
  "(setf sb-ext:*evaluator-mode* :interpret)",
  "(setf *break-on-signals* 'warning)",
  "(setf *read-base* 16)",
];

/** What evaluating must leave as it was. */
const KEPT = `(cl:mapcar 'sb-ext:symbol-global-value
  '(sb-c::*policy* sb-c::*policy-min* sb-c::*policy-max* sb-c::*macro-policy* sb-ext:*evaluator-mode* cl:*break-on-signals* cl:*read-base*))`;

describe("SwankClient in an image with custom compiler settings", () => {
  for (const setting of SETTINGS)
    describe(setting, () => {
      const image = new LiveImage();
      let client: SwankClient;
      before(async () => {
        await image.start();
        image.swank.type(setting);
        image.swank.type(`(setf (get :image-settings :before) ${KEPT})`);
        while ((await image.ask("(cl:get :image-settings :before)")) === "NIL");
        client = await image.connect();
      });
      after(() => image.stop());

      it("stops at steps of the user's code only, and shows its variables", () => stepThrough(client));

      it("refuses a restart without its value, and continues from an error through RETRY", () => retry(client));

      it("compiles with the settings under policy keep", async () => {
        await values(client, "(defun by-settings (x) (let ((y (list x))) (first y)))", { policy: "keep" });
        const stop = stopped(await evaluate(client, '(restart-case (error "x") (use () :used))', { policy: "keep" }));
        await stop.stop.invokeRestart(0);
      });

      it("keeps the settings", async () => {
        const same = `(cl:every 'cl:eql (cl:get :image-settings :before) ${KEPT})`;
        expect(await image.ask(same)).to.equal("T");
      });
    });
});
