import { readFile } from "node:fs/promises";
import { expect } from "chai";
// The example loads FiveAM: this import makes the set-up install it.
import "../support/fiveam.js";
import { EXAMPLES, runExample, said } from "./run-example.js";

describe("feature.mjs", () => {
  it("adds a feature whose tests pass and run all of it, and prints docs/feature.md", async () => {
    const { code, stdout, stderr } = await runExample("feature.mjs");
    expect(code, stderr).to.equal(0);
    const page = await readFile(new URL("../docs/feature.md", EXAMPLES), "utf8");
    // Which files are compiled again depends on the second in which each was written.
    const facts = (text: string) => said(text).filter((line) => !/^System lending is loaded|^Redefined by/.test(line));
    expect(facts(stdout)).to.deep.equal(facts(page));
  }).timeout(300_000);
});
