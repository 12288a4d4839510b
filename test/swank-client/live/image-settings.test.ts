import { expect } from "chai";
import type { SwankClient } from "swank-client";
import { LiveImage } from "./live-image.js";
import { evaluate, stopped, values } from "./outcomes.js";
import { retry, stepThrough } from "./step-through.js";

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
  for (const setting of SETTINGS) {
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
  }
});
