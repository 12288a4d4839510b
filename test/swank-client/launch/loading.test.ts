import { chmod, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { BUILDING_TIME, launching } from "./launching.js";

describe("launching without a core", function () {
  this.timeout(BUILDING_TIME);
  const { launch, folder } = launching();

  it("loads Swank, and compiles it only the first time", async () => {
    const cacheDir = await folder();
    const first = await launch({ cacheDir, useCore: false });
    expect(first.image.how).to.equal("loaded");
    expect(await first.evaluate("(cl:+ 1 2)")).to.equal("3");
    const [name = ""] = await readdir(join(cacheDir, "fasl"));
    const compiled = await readdir(join(cacheDir, "fasl", name));
    expect(compiled).to.include("swank.fasl");
    const second = await launch({ cacheDir, useCore: false });
    expect(await second.evaluate("(cl:+ 1 2)")).to.equal("3");
    expect(await readdir(join(cacheDir, "fasl"))).to.deep.equal([name]);
  });

  it("compiles again what is damaged", async () => {
    const cacheDir = await folder();
    await (await launch({ cacheDir, useCore: false })).image.stop();
    const [name = ""] = await readdir(join(cacheDir, "fasl"));
    await writeFile(join(cacheDir, "fasl", name, "swank.fasl"), "garbage");
    const { evaluate } = await launch({ cacheDir, useCore: false });
    expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
  });

  it("is the way out when nothing can be kept in the cache folder", async () => {
    const file = join(await folder(), "file");
    await writeFile(file, "");
    for (const cacheDir of [file, join(file, "below"), "/proc/nothing"]) {
      const { image, evaluate } = await launch({ cacheDir });
      expect(image.how).to.equal("loaded");
      expect(image.notes.join()).to.include("Nothing can be kept between launches").and.include(cacheDir);
      expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
    }
  });

  it("is the way out when the cache folder could be written by others", async () => {
    const cacheDir = await folder();
    await chmod(cacheDir, 0o777);
    const { image } = await launch({ cacheDir });
    expect(image.notes.join()).to.include("can be written by other users");
  });

  it("is the way out when a core cannot be built", async () => {
    const { image, evaluate } = await launch({ runtimeSources: ['(error "no such runtime")'] });
    expect(image.how).to.equal("loaded");
    expect(image.notes.join()).to.include("no such runtime");
    expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
  });

  it("needs neither a home folder nor a temporary one", async () => {
    const env = { ...process.env, HOME: "/dev/null/home", XDG_CACHE_HOME: "/dev/null/cache" };
    const { image, evaluate } = await launch({ cacheDir: undefined, env });
    expect(image.notes.join()).to.include("/dev/null/cache/swank-toolkit");
    expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
  });
});
