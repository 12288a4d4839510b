import { expect } from "chai";
import { breakOffCompiling } from "../swank-client/live/break-off-compiling.js";
import { liveImage } from "../swank-client/live/live-image.js";
import { values } from "../swank-client/live/outcomes.js";

const MINUTES = 3;

describe("interrupting an image that compiles, for minutes", () => {
  const image = liveImage();

  for (const [what, stops] of [
    ["aborts", false],
    ["timeouts", true],
  ] as const) {
    it(`never leaves it unable to compile: ${what}`, async function () {
      this.timeout((MINUTES + 2) * 60_000);
      const client = await image.connect();
      const end = Date.now() + MINUTES * 60_000;
      while (Date.now() < end) {
        await breakOffCompiling(client, stops);
        expect(await values(client, "(funcall (compile nil '(lambda () 1)))")).to.deep.equal(["1"]);
      }
    });
  }
});
