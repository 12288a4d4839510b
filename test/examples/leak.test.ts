import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { EXAMPLES, runExample, said } from "./run-example.js";

/** The lines of a transcript without those whose figures have units that depend on the machine. */
function steady(transcript: string): readonly string[] {
  return said(transcript).filter((line) => !/^(?:Heap: |Searched )/.test(line));
}

describe("leak.mjs", () => {
  it("finds the leak by its root, corrects it, and prints docs/leak.md", async () => {
    const { code, stdout, stderr } = await runExample("leak.mjs");
    expect(code, stderr).to.equal(0);
    const page = await readFile(new URL("../docs/leak.md", EXAMPLES), "utf8");
    expect(steady(page).length).to.be.greaterThan(10);
    expect(steady(stdout)).to.deep.equal(steady(page));
  }).timeout(300_000);
});
