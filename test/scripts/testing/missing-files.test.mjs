import { expect } from "chai";
import { checkNamedTests, nearestTest } from "../../../scripts/testing/missing-files.mjs";

const FILES = [
  "test/dist/swank-mcp/live/console.test.js",
  "test/dist/swank-mcp/live/approval.test.js",
  "test/scripts/ci.test.mjs",
];

/** @param {readonly string[]} args */
async function refusalOf(args) {
  return checkNamedTests(args, FILES, async (arg) => arg === "test/scripts/ci.test.mjs").then(
    () => "accepted",
    (error) => error.message,
  );
}

describe("checkNamedTests", () => {
  it("names what was typed and the nearest source file", async () => {
    for (const typed of ["consol", "test/swank-mcp/live/consoles.test.ts", "test/dist/swank-mcp/live/consoel.test.js"])
      expect(await refusalOf([typed])).to.equal(
        `There is no test file or folder ${typed}. Did you mean test/swank-mcp/live/console.test.ts?`,
      );
  });

  it("suggests no file that is not alike", async () => {
    expect(await refusalOf(["NOSUCH"])).to.equal(
      "There is no test file or folder NOSUCH. Name a file or a folder in test/.",
    );
    expect(nearestTest("x", [])).to.equal(undefined);
  });

  it("accepts existing files, and mocha's options with their values", async () => {
    expect(await refusalOf(["-g", "restarts", "--grep=stops", "--bail", "test/scripts/ci.test.mjs"])).to.equal(
      "accepted",
    );
  });
});
