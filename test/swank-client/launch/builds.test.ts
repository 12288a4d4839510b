import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { utimesSync } from "node:fs";
import { readdir, readFile, rename, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { constants, getPriority, hostname } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { BUILDING_TIME, coreIn, launching, type TestImage } from "./launching.js";
import { runScript } from "./processes.js";

describe("launch with buildInBackground", function () {
  this.timeout(BUILDING_TIME);
  const { launch, beginsToBuild, cacheWithCore, cacheWithSwank } = launching();

  async function coresIn(cacheDir: string): Promise<string[]> {
    return (await readdir(cacheDir)).filter((name) => name.endsWith(".core"));
  }

  /** The only file of the compiled Swank's main part, with its inode. */
  async function compiled(cacheDir: string): Promise<readonly [path: string, inode: number]> {
    const [name = "", ...others] = await readdir(join(cacheDir, "fasl"));
    expect(others).to.deep.equal([]);
    const path = join(cacheDir, "fasl", name, "swank.fasl");
    return [path, (await stat(path)).ino];
  }

  /** The nice value of each process of this one that builds a core. */
  function builders(): number[] {
    const all = execFileSync("ps", ["-o", "ni=,args=", "--ppid", String(process.pid)], { encoding: "utf8" });
    const lines = all.split("\n").filter((line) => line.includes("--non-interactive"));
    return lines.map((line) => Number.parseInt(line, 10));
  }

  async function firstLaunch(cacheDir: string): Promise<TestImage> {
    const calls: boolean[] = [];
    const onBuild = (isBackground: boolean) => calls.push(isBackground);
    const launched = await launch({ cacheDir, buildInBackground: true, onBuild });
    expect(calls).to.deep.equal([true]);
    expect(launched.image.how).to.equal("loaded");
    expect(launched.image.notes).to.deep.equal([]);
    return launched;
  }

  it("gives an image that has loaded Swank while the core for the next launch is built from the same compiled files", async () => {
    const cacheDir = await cacheWithSwank();
    const { image, evaluate } = await firstLaunch(cacheDir);
    const kept = await compiled(cacheDir);
    expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
    expect(await coresIn(cacheDir)).to.deep.equal([]);
    expect(await image.coreBuild).to.deep.equal({ status: "built" });
    expect(await coresIn(cacheDir)).to.have.length(1);
    expect(await compiled(cacheDir)).to.deep.equal(kept);
    const second = await launch({ cacheDir, buildInBackground: true });
    expect(second.image.how).to.equal("core");
    expect(second.image.coreBuild).to.equal(undefined);
  });

  it("lets other processes go first while it builds", async () => {
    const cacheDir = await cacheWithSwank();
    await firstLaunch(cacheDir);
    while (builders().length === 0) await setTimeout(20);
    expect(builders()[0]).to.equal(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
  });

  it("ends the build with the image, and leaves nothing behind", async () => {
    const cacheDir = await cacheWithSwank();
    const { image } = await firstLaunch(cacheDir);
    while (builders().length === 0) await setTimeout(20);
    await image.stop();
    expect(await image.coreBuild).to.deep.equal({ status: "cancelled" });
    expect(builders()).to.deep.equal([]);
    expect((await readdir(cacheDir)).sort()).to.deep.equal(["begun", "fasl", "lisp"]);
  });

  it("builds the core first if the image of the first launch ended too early", async () => {
    const cacheDir = await cacheWithSwank();
    await (await firstLaunch(cacheDir)).image.stop();
    const calls: boolean[] = [];
    const onBuild = (isBackground: boolean) => calls.push(isBackground);
    await beginsToBuild({ cacheDir, buildInBackground: true, onBuild });
    expect(calls).to.deep.equal([false]);
  });

  it("ends the build when the image ends by itself", async () => {
    const { image, send } = await firstLaunch(await cacheWithSwank());
    send("(sb-ext:exit :code 3 :abort cl:t)");
    expect(await image.coreBuild).to.deep.equal({ status: "cancelled" });
  });

  it("replaces a core that does not start", async () => {
    const cacheDir = await cacheWithCore();
    await truncate(await coreIn(cacheDir), 0);
    const { image } = await launch({ cacheDir, buildInBackground: true });
    expect([image.how, image.notes.length]).to.deep.equal(["loaded", 1]);
    expect(image.notes[0]).to.include("did not start and was rebuilt");
    expect(image.coreBuild).not.to.equal(undefined);
    expect(await coresIn(cacheDir)).to.deep.equal([]);
  });

  it("says why a build failed, and the image goes on", async () => {
    const runtimeSources = ['(cl:error "This runtime cannot be loaded.")'];
    const { image, evaluate } = await launch({
      cacheDir: await cacheWithSwank(),
      runtimeSources,
      buildInBackground: true,
    });
    const end = await image.coreBuild;
    expect(end).to.include({ status: "failed" });
    expect(end).to.have.property("reason").that.includes("This runtime cannot be loaded.");
    expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
  });
});

describe("Processes that build a core simultaneously", function () {
  this.timeout(BUILDING_TIME);
  const { launch, beginsToBuild, cacheWithCore, cacheWithSwank } = launching();

  it("build it once, and all start an image", async () => {
    const cacheDir = await cacheWithSwank();
    const others = [1, 2].map(() => runScript("launch-and-hold", [cacheDir]));
    const lines = await Promise.all(others.map(({ firstLine }) => firstLine));
    for (const { child } of others) child.kill("SIGKILL");
    await Promise.all(others.map(({ exited }) => exited));
    const results = lines.map((line) => ({ ...JSON.parse(line) }));
    expect(results.map(({ how }) => how).sort()).to.deep.equal(["built-core", "core"]);
    expect(results.flatMap(({ notes }) => notes)).to.deep.equal([]);
    const built = (await readdir(cacheDir)).filter((name) => name !== "lisp" && name !== "fasl");
    expect(built).to.have.length(1);
  });

  /** A cache folder whose core another process seems to build: it has the lock of `owner`, and no core until `finish` is called. */
  async function lockedCache(owner: string) {
    const cacheDir = await cacheWithCore();
    const core = await coreIn(cacheDir);
    const aside = join(cacheDir, "aside");
    await rename(core, aside);
    const lock = core.replace(/core$/, "lock");
    await writeFile(lock, owner);
    return { cacheDir, lock, finish: () => rename(aside, core) };
  }

  it("wait for the process that builds it", async () => {
    const { cacheDir, finish } = await lockedCache(`${process.pid} ${hostname()}`);
    const launched = launch({ cacheDir });
    await finish();
    expect((await launched).image.how).to.equal("core");
  });

  async function withoutSign(owner: string): Promise<void> {
    const { cacheDir, lock } = await lockedCache(owner);
    const { image } = await launch({ cacheDir });
    expect(image.how).to.equal("loaded");
    expect(image.notes).to.deep.equal(["Another process is building the core, so Swank was loaded this time."]);
    expect(await readFile(lock, "utf8")).to.equal(owner);
  }

  // Together, because they wait, and in one test, because the folders are removed after each.
  it("wait some seconds for a process that gives no sign of life, and as long as there are signs", async () => {
    async function withSigns(): Promise<void> {
      const { cacheDir, lock, finish } = await lockedCache("1 elsewhere");
      const signs = setInterval(() => utimesSync(lock, new Date(), new Date()), 500);
      const launched = launch({ cacheDir });
      await setTimeout(4500);
      await finish();
      clearInterval(signs);
      expect((await launched).image.how).to.equal("core");
    }
    await Promise.all([withoutSign("1 elsewhere"), withoutSign(`${process.pid} ${hostname()}`), withSigns()]);
  });

  it("remove the files of a killed process, and build", async () => {
    const cacheDir = await cacheWithSwank();
    const killed = runScript("launch-and-hold", [cacheDir]);
    const told = killed.firstLine.catch(() => "nothing");
    const leftovers = async () => (await readdir(cacheDir)).filter((name) => name.includes(`.${killed.child.pid}.`));
    while ((await leftovers()).length === 0) await setTimeout(20);
    killed.child.kill("SIGKILL");
    await killed.exited;
    expect(await told).to.equal("nothing");
    await beginsToBuild({ cacheDir });
    expect(await leftovers()).to.deep.equal([]);
  });

  it("do not wait for a process that has ended", async () => {
    const dead = spawn(process.execPath, ["-e", "0"]);
    await once(dead, "exit");
    const { cacheDir } = await lockedCache(`${dead.pid} ${hostname()}`);
    await beginsToBuild({ cacheDir });
  });

  for (const [what, owner] of [
    ["another machine", "1 elsewhere"],
    ["nobody", ""],
  ] as const)
    it(`do not wait forever for a lock of ${what}`, async () => {
      const { cacheDir, lock } = await lockedCache(owner);
      const longAgo = new Date(Date.now() - 3_600_000);
      await utimes(lock, longAgo, longAgo);
      await beginsToBuild({ cacheDir });
    });
});
