import { expect } from "chai";
import { mochaArguments } from "../../../scripts/testing/mocha-arguments.mjs";

const CONFIG = { spec: ["test/dist/**/*.test.js"], ignore: ["x"], timeout: 60000, forbidOnly: true };

describe("mocha's arguments", () => {
  it("leave the choice of tests to the configuration", () => {
    expect(mochaArguments([], CONFIG)).to.deep.equal([]);
    expect(mochaArguments(["-g", "restarts"], CONFIG)).to.deep.equal(["-g", "restarts"]);
  });

  it("name just the files asked for, compiled, with the rest of the configuration", () => {
    expect(mochaArguments(["test/a/b.test.ts", "--bail", "test/scripts/c.test.mjs"], CONFIG)).to.deep.equal([
      "--no-config",
      "--timeout",
      "60000",
      "--forbid-only",
      "--bail",
      "test/dist/a/b.test.js",
      "test/scripts/c.test.mjs",
    ]);
  });
});
