import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { BUILDING_TIME } from "../launch/launching.js";

const SCRIPT = fileURLToPath(new URL("../../../../scripts/journeys.mjs", import.meta.url));

describe("Number of swank-client modules on the path", () => {
  it("of an evaluation, and of a stop that is inspected and resumed, is within its limit", async function () {
    this.timeout(BUILDING_TIME);
    // Coverage of the tests themselves would count in the same process.
    const { NODE_V8_COVERAGE, ...env } = process.env;
    const ended = await promisify(execFile)(process.execPath, [SCRIPT], { env }).catch((error: unknown) => error);
    expect(ended, "`node scripts/journeys.mjs` shows which modules run").not.to.be.instanceOf(Error);
    expect(ended)
      .to.have.property("stdout")
      .that.matches(/^\d\d of at most 20 modules: an evaluation$/m);
    expect(ended)
      .to.have.property("stdout")
      .that.matches(/^\d\d of at most 30 modules: a stop/m);
  });
});
