import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, rename, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { BUILDING_TIME, launching } from "./launching.js";
import { runScript } from "./processes.js";

describe("processes that build a core at once", function () {
  this.timeout(BUILDING_TIME);
  const { launch, folder, cacheWithCore } = launching();

  it("do not harm each other", async () => {
    const cacheDir = await folder();
    const others = [1, 2].map(() => runScript("launch-and-hold", [cacheDir]));
    const lines = await Promise.all(others.map(({ firstLine }) => firstLine));
    for (const { child } of others) child.kill("SIGKILL");
    await Promise.all(others.map(({ exited }) => exited));
    const results = lines.map((line) => ({ ...JSON.parse(line) }));
    expect(results.map(({ how }) => how).sort()).to.deep.equal(["built-core", "core"]);
    expect(results.flatMap(({ notes }) => notes)).to.deep.equal([]);
    const files = await readdir(cacheDir);
    expect(files.filter((name) => /\.(core|draft|lock)$/.test(name))).to.have.length(1);
  });

  it("within one process share one as well", async () => {
    const cacheDir = await folder();
    const images = await Promise.all([launch({ cacheDir }), launch({ cacheDir })]);
    expect(images.map(({ image }) => image.how).sort()).to.deep.equal(["built-core", "core"]);
  });

  /** A cache folder without its core but with somebody's lock, and the core. */
  async function lockedCache(owner: string) {
    const cacheDir = await cacheWithCore();
    const [name = ""] = (await readdir(cacheDir)).filter((file) => file.endsWith(".core"));
    const core = join(cacheDir, name);
    const aside = join(cacheDir, "aside");
    await rename(core, aside);
    const lock = core.replace(/core$/, "lock");
    await writeFile(lock, owner);
    return { cacheDir, lock, finish: () => rename(aside, core) };
  }

  it("wait for one that is at work", async () => {
    const { cacheDir, finish } = await lockedCache(`${process.pid} ${hostname()}`);
    const launched = launch({ cacheDir });
    await finish();
    expect((await launched).image.how).to.equal("core");
  });

  it("do not wait for one that has died", async () => {
    const dead = spawn(process.execPath, ["-e", "0"]);
    await once(dead, "exit");
    const { cacheDir } = await lockedCache(`${dead.pid} ${hostname()}`);
    expect((await launch({ cacheDir })).image.how).to.equal("built-core");
  });

  for (const [what, owner] of [
    ["another machine", "1 elsewhere"],
    ["nobody", ""],
  ] as const) {
    it(`do not wait for ever for a lock of ${what}`, async () => {
      const { cacheDir, lock } = await lockedCache(owner);
      const longAgo = new Date(Date.now() - 3_600_000);
      await utimes(lock, longAgo, longAgo);
      expect((await launch({ cacheDir })).image.how).to.equal("built-core");
    });
  }
});
