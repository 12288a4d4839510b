import { cp, mkdir, readdir, rename, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { findSwank } from "swank-client/launch";
import { BUILDING_TIME, coreIn, launching } from "./launching.js";

const YESTERDAY = new Date(Date.now() - 86_400_000);

describe("CoreCache", function () {
  this.timeout(BUILDING_TIME);
  const { launch, beginsToBuild, launchSpoilt, folder, cacheWithCore, cacheWithSwank } = launching();

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
    it(`replaces a core that is ${damage}`, async () => {
      const cacheDir = await cacheWithCore();
      const { image, evaluate } = await launchSpoilt(cacheDir, inflict);
      expect(image.notes.join()).to.include(note);
      expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
    });

  it("does not use a core whose greeting names other ingredients", async () => {
    const cacheDir = await cacheWithCore();
    const runtimeSources = ["(defvar cl-user::*other* t)"];
    const key = await beginsToBuild({ cacheDir, runtimeSources });
    await rename(await coreIn(cacheDir), join(cacheDir, `${key}.core`));
    const { image } = await launch({ cacheDir, runtimeSources, buildInBackground: true });
    expect(image.how).to.equal("loaded");
    expect(image.notes.join()).to.include("it greeted with an unexpected line");
  });

  it("builds another core when the runtime changes, without compiler messages about its code, and removes old ones", async () => {
    const cacheDir = await cacheWithSwank();
    const lines: string[] = [];
    const source = (value: number) =>
      `(defpackage "GIVEN" (:use "CL"))\n(in-package "GIVEN")\n(defvar *value* ${value}) ; "é"
       (defun caller () (later))\n(defun later (unused) 1)`;
    const old = ["1.core", "2.core", "3.core", "4.1-abc.draft"].map((name) => join(cacheDir, name));
    await Promise.all(old.map((file) => writeFile(file, "")));
    await Promise.all(old.map((file) => utimes(file, YESTERDAY, YESTERDAY)));
    const { image, evaluate } = await launch({
      cacheDir,
      runtimeSources: [source(1)],
      warmUp: ["(cl:incf given::*value*)"],
      onLog: (line) => lines.push(line),
    });
    expect(image.how).to.equal("built-core");
    expect(lines).to.deep.equal([]);
    expect(await evaluate("given::*value*")).to.equal("2");
    expect(await evaluate("(cl:package-name cl:*package*)")).to.equal('"COMMON-LISP-USER"');
    const files = await readdir(cacheDir);
    const cores = files.filter((name) => name.endsWith(".core"));
    expect(cores).to.have.length(3);
    const built = cores.filter((name) => name.length > 10).map((name) => join(cacheDir, name));
    expect((await stat(built.join())).mode & 0o777).to.equal(0o600);
    expect(files.filter((name) => !/\.core$|^(?:lisp|fasl)$/.test(name))).to.deep.equal([]);
    expect(files).not.to.include(`${await beginsToBuild({ cacheDir, runtimeSources: [source(5)] })}.core`);
  });

  it("builds another core when Swank's files change", async () => {
    const [cacheDir, swank] = await Promise.all([folder(), folder()]);
    await cp(await findSwank(), swank, { recursive: true, preserveTimestamps: true });
    const key = await beginsToBuild({ cacheDir, swank });
    expect(await beginsToBuild({ cacheDir, swank })).to.equal(key);
    await utimes(join(swank, "swank.lisp"), YESTERDAY, YESTERDAY);
    expect(await beginsToBuild({ cacheDir, swank })).not.to.equal(key);
  });
});

describe("launch without a core", function () {
  this.timeout(BUILDING_TIME);
  const { launch, folder, cacheWithSwank } = launching();

  it("compiles Swank for each of several images that are launched at once, keeps one result, and loads that later", async () => {
    const cacheDir = await folder();
    const images = await Promise.all([1, 2].map(() => launch({ cacheDir, useCore: false })));
    for (const { image, evaluate } of images) {
      expect(image.how).to.equal("loaded");
      expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
    }
    const [name = "", ...others] = await readdir(join(cacheDir, "fasl"));
    expect(others).to.deep.equal([]);
    const file = join(cacheDir, "fasl", name, "swank.fasl");
    const { ino } = await stat(file);
    const later = await launch({ cacheDir, useCore: false });
    expect(await later.evaluate("(cl:+ 1 2)")).to.equal("3");
    expect(await readdir(join(cacheDir, "fasl"))).to.deep.equal([name]);
    expect((await stat(file)).ino).to.equal(ino);
  });

  it("compiles damaged files again, and removes old folders, except those into which another image compiles", async () => {
    const cacheDir = await cacheWithSwank();
    const fasl = join(cacheDir, "fasl");
    const [name = ""] = await readdir(fasl);
    const file = join(fasl, name, "swank.fasl");
    await writeFile(file, "garbage");
    const published = ["0123456789abcdef01234567", "123456789abcdef012345678"];
    const others = [`${published[0]}.1.0123456789ab-abcdef`, "not-ours"];
    for (const folderName of [...published, ...others]) await mkdir(join(fasl, folderName));
    for (const folderName of published) await utimes(join(fasl, folderName), YESTERDAY, YESTERDAY);
    await symlink("/nowhere", join(fasl, "dangling"));
    const { image, evaluate } = await launch({ cacheDir, useCore: false });
    expect([image.how, image.notes]).to.deep.equal(["loaded", []]);
    expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
    expect((await stat(file)).size).to.be.above(100_000);
    const left = await readdir(fasl);
    expect(left).to.include.members([name, ...others, "dangling"]);
    expect(left.filter((folderName) => /^[0-9a-f]+$/.test(folderName))).to.have.length(2);
  });

  it("is used if no folder can be written", async () => {
    const file = join(await folder(), "file");
    await writeFile(file, "");
    const temporary = process.env["TMPDIR"];
    process.env["TMPDIR"] = file;
    try {
      for (const cacheDir of [join(file, "below"), "/proc/nothing"]) {
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
