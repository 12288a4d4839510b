import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { inRepository } from "../../../scripts/setup/paths.mjs";

const PROGRAM = "node_modules/.bin/swank-mcp";

describe("npm start", function () {
  this.timeout(120_000);

  it("names at ,setup the same program as the README", async () => {
    const { stdout } = spawnSync(process.execPath, [inRepository("scripts/run.mjs"), "start", "console"], {
      input: ",setup\n",
      encoding: "utf8",
    });
    expect(stdout).to.include(`claude mcp add swank -- ${inRepository(PROGRAM)}\n`);
    expect(await readFile(inRepository("README.md"), "utf8")).to.include(
      `claude mcp add swank -- /path/to/${PROGRAM}\``,
    );
  });
});
