import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { inRepository } from "../../../scripts/setup/paths.mjs";

describe("npm run check", () => {
  it("refuses an unknown name, and lists the checks", () => {
    const { status, stderr, stdout } = spawnSync(
      process.execPath,
      [inRepository("scripts/run.mjs"), "check", "lint", "lnit"],
      { encoding: "utf8" },
    );
    expect(status).to.equal(2);
    expect(stderr).to.match(/^No check is named lnit\. The checks are: build, lint, /);
    expect(stdout).to.equal("");
  });
});
