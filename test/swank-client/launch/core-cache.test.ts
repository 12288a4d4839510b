import { cp, mkdir, readdir, rename, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { findSwank } from "swank-client/launch";
import { BUILDING_TIME, launching } from "./launching.js";

describe("CoreCache", function () {
  this.timeout(BUILDING_TIME);
  const { launch, folder, cacheWithCore, cacheWithSwank } = launching();

  async function coresIn(cacheDir: string): Promise<string[]> {
    return (await readdir(cacheDir)).filter((name) => name.endsWith(".core"));
  }

  /** The files that are only there while a core is being built. */
  async function leftovers(cacheDir: string): Promise<string[]> {
    return (await readdir(cacheDir)).filter((name) => !/\.core$|^(?:lisp|fasl)$/.test(name));
  }

  it("builds a core without compiler messages about its code", async () => {
    const lines: string[] = [];
    const source = "(defun cl-user::caller () (cl-user::later))\n(defun cl-user::later (unused) 1)";
    const onLog = (line: string) => lines.push(line);
    const { image } = await launch({ cacheDir: await cacheWithSwank(), runtimeSources: [source], onLog });
    expect(image.how).to.equal("built-core");
    expect(lines).to.deep.equal([]);
  });

  const damages: Record<string, readonly [note: string, inflict: (core: string) => Promise<void>]> = {
    empty: ["did not start and was rebuilt", (core) => truncate(core, 0)],
    "cut off in the middle": ["did not start and was rebuilt", (core) => truncate(core, 20_000_000)],
    garbage: ["did not start and was rebuilt", (core) => writeFile(core, Buffer.alloc(100_000, "garbage"))],
    "a folder": [
      "was not used and is rebuilt: it is not a file.",
      async (core) => {
        await rm(core);
        await mkdir(core);
      },
    ],
  };
  for (const [damage, [note, inflict]] of Object.entries(damages))
    it(`rebuilds a core that is ${damage}`, async () => {
      const cacheDir = await cacheWithCore();
      const [core = ""] = await coresIn(cacheDir);
      await inflict(join(cacheDir, core));
      const { image, evaluate } = await launch({ cacheDir });
      expect(image.how).to.equal("built-core");
      expect(image.notes.join()).to.include(note);
      expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
      expect((await launch({ cacheDir })).image.how).to.equal("core");
    });

  it("rebuilds a core whose greeting names other ingredients", async () => {
    const cacheDir = await cacheWithCore();
    const [usual = ""] = await coresIn(cacheDir);
    const runtimeSources = ["(defvar cl-user::*other* t)"];
    await (await launch({ cacheDir, runtimeSources })).image.stop();
    const [other = ""] = (await coresIn(cacheDir)).filter((name) => name !== usual);
    await rename(join(cacheDir, usual), join(cacheDir, other));
    const { image } = await launch({ cacheDir, runtimeSources });
    expect(image.how).to.equal("built-core");
    expect(image.notes.join()).to.include("it greeted with an unexpected line");
  });

  it("builds another core when the runtime changes", async () => {
    const cacheDir = await cacheWithSwank();
    const source = (value: number) =>
      `(defpackage "GIVEN" (:use "CL"))\n(in-package "GIVEN")\n(defvar *value* ${value}) ; "é"`;
    const first = await launch({ cacheDir, runtimeSources: [source(1)], warmUp: ["(cl:incf given::*value*)"] });
    const second = await launch({ cacheDir, runtimeSources: [source(5)] });
    expect([first.image.how, second.image.how]).to.deep.equal(["built-core", "built-core"]);
    expect(await first.evaluate("given::*value*")).to.equal("2");
    expect(await second.evaluate("given::*value*")).to.equal("5");
    expect(await second.evaluate("(cl:package-name cl:*package*)")).to.equal('"COMMON-LISP-USER"');
  });

  it("builds another core when Swank's files change, and removes old ones", async () => {
    const [cacheDir, swank] = await Promise.all([folder(), folder()]);
    await cp(await findSwank(), swank, { recursive: true, preserveTimestamps: true });
    const options = { cacheDir, swank };
    expect((await launch(options)).image.how).to.equal("built-core");
    const [first = ""] = await coresIn(cacheDir);
    const longAgo = new Date(Date.now() - 86_400_000);
    const old = ["1.core", "2.core", "3.core", "4.1-abc.draft"].map((name) => join(cacheDir, name));
    await Promise.all(old.map((file) => writeFile(file, "")));
    await Promise.all(old.map((file) => utimes(file, longAgo, longAgo)));
    await utimes(join(swank, "swank.lisp"), longAgo, longAgo);
    expect((await launch(options)).image.how).to.equal("built-core");
    expect(await coresIn(cacheDir))
      .to.include(first)
      .and.have.length(3);
    expect(await leftovers(cacheDir)).to.deep.equal([]);
  });
});

describe("launch without a core", function () {
  this.timeout(BUILDING_TIME);
  const { launch, folder, cacheWithSwank } = launching();

  it("loads Swank, and compiles it only the first time", async () => {
    const cacheDir = await folder();
    const first = await launch({ cacheDir, useCore: false });
    expect(first.image.how).to.equal("loaded");
    expect(await first.evaluate("(cl:+ 1 2)")).to.equal("3");
    const [name = ""] = await readdir(join(cacheDir, "fasl"));
    expect(await readdir(join(cacheDir, "fasl", name))).to.include("swank.fasl");
    const second = await launch({ cacheDir, useCore: false });
    expect(await second.evaluate("(cl:+ 1 2)")).to.equal("3");
    expect(await readdir(join(cacheDir, "fasl"))).to.deep.equal([name]);
  });

  for (const [use, useCore, how] of [
    ["load an image", false, "loaded"],
    ["build a core", true, "built-core"],
  ] as const)
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
    expect((await launch({ cacheDir, useCore: false })).image.notes).to.deep.equal([]);
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
