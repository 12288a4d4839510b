import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import { runMocha } from "../../../scripts/testing/run-mocha.mjs";
import { runResult } from "../../../scripts/testing/run-result.mjs";

describe("runMocha", () => {
  /** @type {string} */
  let folder;
  /** @type {string} */
  let file;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "run-mocha-"));
    file = join(folder, "the.test.mjs");
  });

  after(() => rm(folder, { recursive: true }));

  /**
   * @param {string} source of the only test file
   * @param {import("../../../scripts/testing/run-mocha.mjs").MochaSettings} [settings]
   */
  async function run(source, settings) {
    await writeFile(file, source);
    const args = ["--no-config", "--reporter-option", "grace=50", file];
    return runMocha(args, { output: "ignore", ...settings });
  }

  /** @param {string} source */
  async function resultOf(source) {
    const { exitCode, results } = await run(source);
    return runResult(exitCode, results?.counts);
  }

  it("counts passed and failed tests", async () => {
    const { counts } = await resultOf(
      'it("a", () => {}); it("b", () => {}); it("c", () => { throw new Error("no"); });',
    );
    expect(counts).to.deep.equal({ passed: 2, failed: 1 });
  });

  for (const [name, source] of Object.entries({
    "there is no test": "",
    "the file does not compile": "it(",
    "the process ends during a test": 'it("a", () => process.exit(0));',
  })) {
    it(`fails if ${name}`, async () => {
      const { counts, why } = await resultOf(source);
      expect(counts).to.deep.equal({ passed: 0, failed: 1 });
      expect(why).to.be.a("string");
    });
  }

  it("fails and ends if a test leaves something open", async () => {
    const { results } = await run('it("a", () => { setInterval(() => {}, 1000); });');
    expect(results?.counts).to.deep.equal({ passed: 1, failed: 1 });
    expect(results?.why).to.include("Still open:").and.include("Timeout");
  });

  it("reports the failures and the duration of each file", async () => {
    const { results } = await run(
      'describe("s", () => { it("a", () => {}); it("b", () => { throw Error("no"); }); });',
    );
    expect(results?.failures).to.have.length(1);
    expect(results?.failures[0]?.file).to.match(/the\.test\.mjs$/);
    expect(stripVTControlCharacters(results?.failures[0]?.text ?? "")).to.match(/1\) s\s+b:\s+Error: no\s+at /);
    expect(Object.values(results?.seconds ?? {})).to.have.length(1);
  });

  it("names the test that was running when the process ended", async () => {
    const { running } = await run('describe("s", () => { it("a", () => {}); it("b", () => process.exit(0)); });');
    expect(running?.title).to.equal("s b");
    expect(running?.file).to.match(/the\.test\.mjs$/);
  });

  it("kills the process if no test starts for too long", async () => {
    const source = 'describe("s", () => { it("a", () => { for (;;); }); });';
    const { results, running, stalled } = await run(source, { patience: 3000 });
    expect([results, running?.title, stalled]).to.deep.equal([undefined, "s a", true]);
  });
});
