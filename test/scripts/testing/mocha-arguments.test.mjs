import { expect } from "chai";
import { mochaArguments } from "../../../scripts/testing/mocha-arguments.mjs";

const CONFIG = { spec: ["test/dist/**/*.test.js"], ignore: ["x"], timeout: 60000, forbidOnly: true };

describe("mochaArguments", () => {
  it("leaves the selection of files to the configuration if no file is named", () => {
    expect(mochaArguments([], ".mocharc.json", CONFIG)).to.deep.equal(["--config", ".mocharc.json"]);
    expect(mochaArguments(["-g", "restarts"], ".mocharc.slow.json", CONFIG)).to.deep.equal([
      "--config",
      ".mocharc.slow.json",
      "-g",
      "restarts",
    ]);
  });

  it("names only the requested files, compiled, and the other settings of the configuration", () => {
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
