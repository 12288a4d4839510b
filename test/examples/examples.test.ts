import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";

const FOLDER = new URL("../../../examples/", import.meta.url);

/** Lines that show that an example came to where it wanted to be. */
const LANDMARKS: Readonly<Record<string, readonly string[]>> = {
  "agent-session.mjs": ["[ERROR] TYPE-ERROR", 'ITEM = (:NAME "milk")', "=> 10"],
  "evaluate.mjs": ["returned [ '3' ]", "stopped DIVISION-BY-ZERO", "1: (DIVIDE 0 0) A=0 B=0", "returned [ '0' ]"],
  "mcp-client.mjs": ["=> :DONE", "[ERROR] DIVISION-BY-ZERO", "Error: DIVISION-BY-ZERO", "=> 5"],
};

describe("examples", () => {
  for (const [file, landmarks] of Object.entries(LANDMARKS)) {
    it(`${file} runs to its end`, async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(new URL(file, FOLDER))]);
      for (const landmark of landmarks) expect(stdout).to.include(landmark);
    });
  }

  it("agent-session.mjs prints the page that the docs show", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      fileURLToPath(new URL("agent-session.mjs", FOLDER)),
    ]);
    expect(await readFile(new URL("../docs/session.md", FOLDER), "utf8")).to.equal(stdout);
  });

  it("are all run by this test", async () => {
    const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".mjs"));
    expect(Object.keys(LANDMARKS)).to.have.members(files);
  });
});
