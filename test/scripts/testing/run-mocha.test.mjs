import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runMocha } from "../../../scripts/testing/run-mocha.mjs";
import { runResult } from "../../../scripts/testing/run-result.mjs";

describe("a run of mocha", () => {
  /** @type {string} */
  let folder;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "run-mocha-"));
  });

  after(() => rm(folder, { recursive: true }));

  /** @param {string} source of the only test file */
  async function resultOf(source) {
    const file = join(folder, "the.test.mjs");
    await writeFile(file, source);
    const { exitCode, counts } = await runMocha(["--no-config", "--reporter-option", "grace=50", file], "ignore");
    return runResult(exitCode, counts);
  }

  it("counts what passed and what failed", async () => {
    const { counts } = await resultOf(
      'it("a", () => {}); it("b", () => {}); it("c", () => { throw new Error("no"); });',
    );
    expect(counts).to.deep.equal({ passed: 2, failed: 1 });
  });

  for (const [name, source] of Object.entries({
    "that has no test": "",
    "that does not compile": "it(",
    "whose process ends in the middle of a test": 'it("a", () => process.exit(0));',
  })) {
    it(`${name} has failed`, async () => {
      const { counts, why } = await resultOf(source);
      expect(counts).to.deep.equal({ passed: 0, failed: 1 });
      expect(why).to.be.a("string");
    });
  }

  it("that leaves something open has failed, and ends", async () => {
    const { counts } = await resultOf('it("a", () => { setInterval(() => {}, 1000); });');
    expect(counts).to.deep.equal({ passed: 1, failed: 1 });
  });
});
