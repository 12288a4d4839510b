import { readFile } from "node:fs/promises";
import { expect } from "chai";
// The example loads FiveAM: this import makes the set-up install it.
import "../support/fiveam.js";
import { EXAMPLES, runExample, said } from "./run-example.js";

describe("testing.mjs", () => {
  it("takes a suite to green, saves the corrections, and prints docs/testing.md", async () => {
    const { code, stdout, stderr } = await runExample("testing.mjs");
    expect(code, stderr).to.equal(0);
    const page = await readFile(new URL("../docs/testing.md", EXAMPLES), "utf8");
    // list-changes may add files of libraries that it cannot compare.
    expect(said(stdout)).to.include.members(said(page));
  }).timeout(300_000);

  it("fails at an answer that its agent does not expect", async () => {
    const failed = await runExample("testing.mjs", [], { environment: { SWANK_MCP_APPROVAL: "strict" } });
    expect(failed.code).to.equal(1);
    expect(failed.stderr).to.include("Wrong turn: debugger_invoke_restart");
  }).timeout(300_000);
});
