import { expect } from "chai";
import { mochaArguments } from "../../../scripts/testing/mocha-arguments.mjs";

const CONFIG = { spec: ["test/dist/**/*.test.js"], ignore: ["x"], timeout: 60000, forbidOnly: true };

describe("mocha's arguments", () => {
  it("leave the choice of tests to the configuration", () => {
    expect(mochaArguments([], ".mocharc.json", CONFIG)).to.deep.equal(["--config", ".mocharc.json"]);
    expect(mochaArguments(["-g", "restarts"], ".mocharc.slow.json", CONFIG)).to.deep.equal([
      "--config",
      ".mocharc.slow.json",
      "-g",
      "restarts",
    ]);
  });

  it("name just the files asked for, compiled, with the rest of the configuration", () => {
    const args = ["test/a/b.test.ts", "--bail", "test/scripts/c.test.mjs"];
    expect(mochaArguments(args, ".mocharc.json", CONFIG)).to.deep.equal([
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
