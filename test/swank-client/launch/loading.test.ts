import { mkdir, readdir, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { BUILDING_TIME, launching } from "./launching.js";

describe("launch without a core", function () {
  this.timeout(BUILDING_TIME);
  const { launch, folder, cacheWithSwank } = launching();

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

  for (const [use, useCore, how] of [
    ["load an image", false, "loaded"],
    ["build a core", true, "built-core"],
  ] as const) {
    it(`compiles damaged files again to ${use}`, async () => {
      const cacheDir = await cacheWithSwank();
      const [name = ""] = await readdir(join(cacheDir, "fasl"));
      const file = join(cacheDir, "fasl", name, "swank.fasl");
      await writeFile(file, "garbage");
      const { image, evaluate } = await launch({ cacheDir, useCore });
      expect([image.how, image.notes]).to.deep.equal([how, []]);
      expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
      expect((await stat(file)).size).to.be.above(100_000);
      expect(await readdir(join(cacheDir, "fasl"))).to.deep.equal([name]);
    });
  }

  it("compiles for each of several images that are launched at once, and keeps one result", async () => {
    const cacheDir = await folder();
    const images = await Promise.all([1, 2, 3, 4].map(() => launch({ cacheDir, useCore: false })));
    for (const { evaluate } of images) expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
    expect(await readdir(join(cacheDir, "fasl"))).to.have.length(1);
  });

  it("removes old folders, except those into which another image compiles", async () => {
    const cacheDir = await folder();
    const fasl = join(cacheDir, "fasl");
    const longAgo = new Date(Date.now() - 86_400_000);
    const published = ["0123456789abcdef01234567", "123456789abcdef012345678"];
    const others = [`${published[0]}.1.0123456789ab-abcdef`, "not-ours"];
    await mkdir(fasl, { mode: 0o700 });
    for (const name of [...published, ...others]) await mkdir(join(fasl, name));
    for (const name of published) await utimes(join(fasl, name), longAgo, longAgo);
    await symlink("/nowhere", join(fasl, "dangling"));
    const { image } = await launch({ cacheDir, useCore: false });
    expect(image.notes).to.deep.equal([]);
    const left = await readdir(fasl);
    expect(left).to.include.members([...others, "dangling"]);
    expect(left.filter((name) => /^[0-9a-f]+$/.test(name))).to.have.length(2);
  });

  it("is used if no folder can be written", async () => {
    const file = join(await folder(), "file");
    await writeFile(file, "");
    const temporary = process.env["TMPDIR"];
    process.env["TMPDIR"] = file;
    try {
      for (const cacheDir of [file, join(file, "below"), "/proc/nothing"]) {
        const { image, evaluate } = await launch({ cacheDir });
        expect(image.how).to.equal("loaded");
        expect(image.notes.join()).to.include("No files can be kept between launches").and.include(cacheDir);
        expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
      }
    } finally {
      if (temporary === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = temporary;
    }
  });

  it("is used if a core cannot be built", async () => {
    const { image, evaluate } = await launch({ runtimeSources: ['(error "no such runtime")'] });
    expect(image.how).to.equal("loaded");
    expect(image.notes.join()).to.include("no such runtime");
    expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
  });

  it("needs neither a home folder nor a temporary folder", async () => {
    const env = { ...process.env, HOME: "/dev/null/home", XDG_CACHE_HOME: "/dev/null/cache" };
    const { image, evaluate } = await launch({ cacheDir: undefined, env });
    expect(image.notes.join()).to.include("/dev/null/cache/swank-toolkit");
    expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
  });
});
