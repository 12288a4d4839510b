import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runShards, shardCount } from "../../../scripts/testing/run-shards.mjs";

/** A test that writes a line at its start and at its end. */
const NOTED = `
  import { appendFile } from "node:fs/promises";
  import { basename } from "node:path";
  import { setTimeout } from "node:timers/promises";
  const note = (text) => appendFile(new URL("notes", import.meta.url), \`\${text} \${basename(import.meta.url, ".test.mjs")}\\n\`);
  it("is noted", async () => { await note("begins"); await setTimeout(SLEEP); await note("ends"); });`;

describe("runShards", function () {
  this.timeout(120_000);
  /** @type {string} */
  let folder;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "run-shards-"));
  });

  afterEach(() => rm(folder, { recursive: true }));

  /**
   * @param {Record<string, string>} sources by name; names that begin with "live" count as starting programs
   * @param {{ shards?: number, patience?: number }} [settings]
   */
  async function resultOf(sources, settings = { shards: 2 }) {
    const files = await Promise.all(
      Object.entries(sources).map(async ([name, source]) => {
        const file = join(folder, `${name}.test.mjs`);
        // A file of 20 kB gets its own job.
        await writeFile(file, `${source}\n//${"x".repeat(20_000)}`);
        return { file, live: name.startsWith("live") };
      }),
    );
    const text = { report: "" };
    const write = (/** @type {string} */ part) => {
      text.report += part;
    };
    const args = (/** @type {readonly string[]} */ some) => [
      "--no-config",
      "--no-color",
      "--reporter-option",
      "grace=50",
      ...some,
    ];
    return { ...(await runShards(files, args, { ...settings, write })), ...text };
  }

  it("adds up the counts of all processes, and prints complete failures at the end", async () => {
    const { counts, why, report } = await resultOf({
      a: 'it("a1", () => {}); it("a2", () => {});',
      b: 'it("b", () => { throw new Error("no b"); });',
      live1: 'it("c", () => {});',
      live2: 'it("d", () => { throw new Error("no d"); });',
    });
    expect(counts).to.deep.equal({ passed: 3, failed: 2 });
    expect(why).to.equal(undefined);
    expect(report).to.match(/✔ a1[\s\S]*live2\.test\.mjs/);
    expect(report.indexOf("✔ c")).to.be.below(report.indexOf("no b"));
    for (const word of ["no b", "no d"]) expect(report.split(`Error: ${word}`)).to.have.length(2);
  });

  it("fails and names the file if a process ends before its tests do", async () => {
    const ends = 'it("ends", () => process.exit(0));';
    const { counts, why } = await resultOf({ a: ends, live1: 'it("passes", () => {});', live2: ends });
    expect(counts).to.deep.equal({ passed: 1, failed: 2 });
    expect(why).to.match(/a\.test\.mjs, in "ends": .*ended before[\s\S]*live2\.test\.mjs, in "ends": .*ended before/);
  });

  it("fails and names the file if a test leaves something open, even if it starts no program", async () => {
    const { counts, why } = await resultOf({ a: 'it("a", () => { setInterval(() => {}, 1000); });' });
    expect(counts).to.deep.equal({ passed: 1, failed: 1 });
    expect(why).to.match(/a\.test\.mjs: .*Still open: .*Timeout/);
  });

  it("fails and names the file if a process hangs", async () => {
    const sources = { a: 'it("passes", () => {});', live: 'it("hangs", () => { for (;;); });' };
    const { counts, why } = await resultOf(sources, { shards: 2, patience: 3000 });
    expect(counts).to.deep.equal({ passed: 1, failed: 1 });
    expect(why).to.match(/live\.test\.mjs, in "hangs": No test began for too long/);
  });

  it("fails if no file contains a test", async () => {
    expect(await resultOf({ a: "", b: "" })).to.deep.include({ counts: { passed: 0, failed: 1 }, why: "No test ran." });
    expect((await resultOf({ a: "", b: 'it("b", () => {});' })).counts).to.deep.equal({ passed: 1, failed: 0 });
  });

  it("runs files in parallel, and afterwards the files that must run alone", async () => {
    const noted = NOTED.replace("SLEEP", "2000");
    await resultOf({ live1: noted, live2: noted, "live3.alone": noted, "live4.alone": noted });
    const notes = (await readFile(join(folder, "notes"), "utf8")).trim().split("\n");
    expect(notes.slice(0, 2).sort()).to.deep.equal(["begins live1", "begins live2"]);
    const [first = ""] = /live[34]/.exec(notes[4] ?? "") ?? [];
    const last = first === "live3" ? "live4" : "live3";
    const alone = [first, last].flatMap((name) => [`begins ${name}.alone`, `ends ${name}.alone`]);
    expect(notes.slice(4)).to.deep.equal(alone);
  });

  it("gives each process its own folder for temporary files, and removes it", async () => {
    const source =
      'import { writeFileSync } from "node:fs"; it("a", () => writeFileSync(new URL(PLACE, import.meta.url), process.env.TMPDIR));';
    await resultOf({ live1: source.replace("PLACE", '"1"'), live2: source.replace("PLACE", '"2"') });
    const [one, two] = await Promise.all(["1", "2"].map((name) => readFile(join(folder, name), "utf8")));
    expect(one).to.not.equal(two);
    for (const place of [one, two]) {
      expect(
        await access(place ?? "").then(
          () => "there",
          () => "gone",
        ),
      ).to.equal("gone");
    }
  });
});

describe("shardCount", () => {
  it("is two more than the number of processors, but at most four", () => {
    expect([1, 2, 3, 4, 16].map((processors) => shardCount(undefined, processors))).to.deep.equal([3, 4, 4, 4, 4]);
  });

  it("is TEST_SHARDS if that is a positive number", () => {
    expect([..."18"].map((wanted) => shardCount(wanted, 4))).to.deep.equal([1, 8]);
    expect(["0", "x", "", "-1"].map((wanted) => shardCount(wanted, 4))).to.deep.equal([4, 4, 4, 4]);
  });
});
