import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { inRepository } from "../../../scripts/setup/paths.mjs";
import {
  expectedDurations,
  RECORDED,
  readDurations,
  recordDurations,
  writeRecord,
} from "../../../scripts/testing/durations.mjs";

const testFile = (/** @type {string} */ file) => ({ file, live: file.includes("live") });

describe("durations of test files", () => {
  /** @type {string} */
  let folder;
  /** @type {string} */
  let path;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "durations-"));
    path = join(folder, "cache/durations.json");
  });

  afterEach(() => rm(folder, { recursive: true }));

  it("are kept between runs for the files of each run", async () => {
    await recordDurations(path, [testFile("a"), testFile("b")], { a: 1, b: 2, "../c": 3 });
    await recordDurations(path, [testFile("b"), testFile("d")], { b: 5 });
    expect(await readDurations(path)).to.deep.equal({ a: 1, b: 5 });
    expect(await readdir(join(folder, "cache"))).to.deep.equal(["durations.json"]);
  });

  it("are unknown if the record is damaged or cannot be written", async () => {
    const damaged = join(folder, "damaged");
    await writeFile(damaged, '{"a":');
    expect(await readDurations(damaged)).to.deep.equal({});
    await recordDurations(join(damaged, "below"), [testFile("a")], { a: 1 });
    expect(await readDurations(join(damaged, "below"))).to.deep.equal({});
  });

  it("are in the repository in whole seconds, for files that exist", async () => {
    const record = join(folder, "record.json");
    await writeRecord(record, ["b", "a", "c", "d"].map(testFile), { a: 1.4, b: 20.6, c: 0.4, other: 5 });
    expect(await readFile(record, "utf8")).to.equal('{\n  "a": 1,\n  "b": 21\n}\n');
    const recorded = Object.keys(await readDurations(RECORDED));
    expect(recorded).to.not.deep.equal([]);
    expect(recorded.filter((file) => !existsSync(inRepository(file)))).to.deep.equal([]);
  });

  it("are estimated from the size of a file that has never run", async () => {
    const names = ["live.js", "pure.js"].map((name) => join(folder, name));
    await Promise.all(names.map((name) => writeFile(name, "x".repeat(10_000))));
    const [live = "", pure = ""] = names;
    const expected = await expectedDurations([live, pure, "known", "missing"].map(testFile), { known: 7 });
    expect(expected).to.deep.equal({ [live]: 10, [pure]: 1, known: 7, missing: 0 });
  });
});
