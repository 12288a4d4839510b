import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runApart } from "../../../scripts/testing/run-apart.mjs";

describe("a run of tests that start programs and of tests that do not", () => {
  /** @type {string} */
  let folder;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "run-apart-"));
  });

  afterEach(() => rm(folder, { recursive: true }));

  /** @param {Record<string, string>} sources by name; those that begin with "live" count as starting programs */
  async function resultOf(sources) {
    const files = await Promise.all(
      Object.entries(sources).map(async ([name, source]) => {
        const file = join(folder, `${name}.test.mjs`);
        await writeFile(file, source);
        return { file, live: name.startsWith("live"), lisp: false, emacs: false };
      }),
    );
    return runApart(files, (args) => ["--no-config", ...args], "ignore");
  }

  it("counts both", async () => {
    const { counts } = await resultOf({
      a: 'it("a1", () => {}); it("a2", () => {});',
      b: 'it("b", () => { throw new Error("no"); });',
      live1: 'it("c", () => {});',
      live2: 'it("d", () => { throw new Error("no"); });',
    });
    expect(counts).to.deep.equal({ passed: 3, failed: 2 });
  });

  it("fails when a process ends before its tests do, whether mocha's or a worker of its", async () => {
    const ends = 'it("ends", () => process.exit(0));';
    const passes = 'it("passes", () => {});';
    expect((await resultOf({ a: ends, b: passes })).counts).to.deep.equal({ passed: 1, failed: 1 });
    const { counts, why } = await resultOf({ a: passes, b: passes, live: ends });
    expect(counts).to.deep.equal({ passed: 2, failed: 1 });
    expect(why).to.include("ended before its tests did");
  });

  it("gives only the files that start no programs to workers of mocha's", async () => {
    const inWorker = (/** @type {boolean} */ expected) =>
      `it("a", () => { if ((process.env.MOCHA_WORKER_ID !== undefined) !== ${expected}) throw new Error("no"); });`;
    const { counts } = await resultOf({ a: inWorker(true), b: inWorker(true), live: inWorker(false) });
    expect(counts).to.deep.equal({ passed: 3, failed: 0 });
  });
});
