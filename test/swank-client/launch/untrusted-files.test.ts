import { execFile } from "node:child_process";
import {
  chmod,
  cp,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { findShareSecret } from "swank-client/launch";
import { BUILDING_TIME, coreIn, folders, launching } from "./launching.js";

const run = promisify(execFile);

describe("launch: files that other users may have written", function () {
  this.timeout(BUILDING_TIME);
  const { launch, launchSpoilt, folder, cacheWithCore, cacheWithSwank } = launching();
  const temporary = process.env["TMPDIR"];

  afterEach(() => {
    if (temporary === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = temporary;
  });

  /** A temporary folder with a cache that has the core, so that nothing is built there. */
  async function temporaryCache(): Promise<string> {
    const parent = await realpath(await folder());
    const cache = join(parent, `swank-toolkit-${process.getuid?.() ?? "user"}`);
    await cp(await cacheWithCore(), cache, { recursive: true, preserveTimestamps: true });
    await chmod(cache, 0o700);
    process.env["TMPDIR"] = parent;
    return cache;
  }

  const cores: Record<string, readonly [says: string, plant: (core: string) => Promise<unknown>]> = {
    "can be written by others": ["can be written by other users", (core) => chmod(core, 0o666)],
    "is a link": [
      "is a link",
      async (core) => {
        await rename(core, `${core}.other`);
        await symlink(`${core}.other`, core);
      },
    ],
    "has a second name": ["has more than one hard link", (core) => link(core, `${core}.other`)],
    "is a pipe": ["is not a file", (core) => rm(core).then(() => run("mkfifo", ["-m", "600", core]))],
  };
  for (const [what, [says, plant]] of Object.entries(cores))
    it(`does not run a core that ${what}`, async () => {
      const cacheDir = await cacheWithCore();
      const core = await coreIn(cacheDir);
      const longAgo = new Date(Date.now() - 86_400_000);
      const { image, evaluate } = await launchSpoilt(cacheDir, async () => {
        await plant(core);
        if (what === "is a link") await utimes(`${core}.other`, longAgo, longAgo);
      });
      expect(image.notes).to.deep.equal([`The core ${core} was not used and is rebuilt: it ${says}.`]);
      expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
      if (what === "is a link") expect((await stat(`${core}.other`)).mtimeMs).to.be.closeTo(longAgo.getTime(), 1000);
    });

  it("does not use a cache folder that others can write, or a folder below one", async () => {
    const kept = await temporaryCache();
    const open = await realpath(await folder());
    await chmod(open, 0o777);
    await mkdir(join(open, "cache"), { mode: 0o700 });
    for (const [cacheDir, why] of [
      [open, `${open} can be written by other users`],
      [
        join(open, "cache"),
        `${join(open, "cache")} cannot be used: ${open}, which leads to it, can be written by other users`,
      ],
      [
        join(open, "cache/deeper/new"),
        `${join(open, "cache/deeper/new")} cannot be used: ${open}, which leads to it, can be written by other users`,
      ],
    ] as const) {
      const { image } = await launch({ cacheDir });
      expect(image.how).to.equal("core");
      expect(image.notes).to.deep.equal([`Files are kept between launches in ${kept}: ${why}.`]);
    }
    expect(await readdir(open)).to.deep.equal(["cache"]);
    expect(await readdir(join(open, "cache"))).to.deep.equal([]);
  });

  it("uses the user's folder in a sticky folder, and the target of the user's link", async () => {
    const sticky = await folder();
    await chmod(sticky, 0o1777);
    const cache = await mkdtemp(join(sticky, "cache-"));
    await cp(await cacheWithCore(), cache, { recursive: true, preserveTimestamps: true });
    await symlink(cache, join(sticky, "link"));
    const { image } = await launch({ cacheDir: join(sticky, "link") });
    expect([image.how, image.notes]).to.deep.equal(["core", []]);
  });

  it("does not use a description of SBCL, which names the program to run", async () => {
    const cacheDir = await cacheWithCore();
    const [name = ""] = await readdir(join(cacheDir, "lisp"));
    const file = join(cacheDir, "lisp", name);
    const text = await readFile(file, "utf8");
    const planted = `${file}.planted`;
    await run("sh", ["-c", 'sed "s#:RUNTIME \\"[^\\"]*\\"#:RUNTIME \\"/bin/true\\"#" "$0" > "$1"', file, planted]);
    expect(await readFile(planted, "utf8")).to.include("/bin/true");
    await rm(file);
    await symlink(planted, file);
    const { image } = await launch({ cacheDir });
    expect([image.how, image.notes]).to.deep.equal(["core", []]);
    expect((await lstat(file)).isFile()).to.equal(true);
    expect(await readFile(file, "utf8")).to.equal(text);
  });

  it("does not load a compiled file that others can write", async () => {
    const cacheDir = await cacheWithSwank();
    const [name = ""] = await readdir(join(cacheDir, "fasl"));
    const fasl = join(cacheDir, "fasl", name, "swank.fasl");
    await chmod(fasl, 0o666);
    const { image } = await launch({ cacheDir, useCore: false });
    expect(image.notes.join()).to.include("swank.fasl, which can be written by other users");
    expect((await lstat(fasl)).mode & 0o777).to.equal(0o600);
  });
});

const OLD = "0123456789abcdef0123456789abcdef";

/** What makes a secret that was made earlier useless, or known to others. */
const SPOILT: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
  "has another name, as when its process was killed while it was made": (file) => link(file, `${file}.draft`),
  "can be read by others": (file) => chmod(file, 0o644),
  "can be written by others": (file) => chmod(file, 0o622),
  "is cut off": (file) => writeFile(file, OLD.slice(9)),
};

describe("findShareSecret: a generated secret", () => {
  const { folder } = folders();
  const home = process.env["HOME"];

  beforeEach(async () => {
    process.env["HOME"] = await folder();
  });

  afterEach(() => {
    if (home === undefined) delete process.env["HOME"];
    else process.env["HOME"] = home;
  });

  it("is reused", async () => {
    const cacheDir = await folder();
    const first = await findShareSecret({ cacheDir });
    const text = await readFile(first.file, "utf8");
    expect(text).to.match(/^[0-9a-f]{32}$/);
    expect(await findShareSecret({ cacheDir })).to.deep.equal({ file: first.file, isMade: true });
    expect(await readFile(first.file, "utf8")).to.equal(text);
  });

  for (const [how, spoil] of Object.entries(SPOILT))
    it(`is replaced if it ${how}`, async () => {
      const cacheDir = await folder();
      const file = join(cacheDir, "share-secret");
      await writeFile(file, OLD, { mode: 0o600 });
      await spoil(file);
      expect(await findShareSecret({ cacheDir })).to.deep.equal({ file, isMade: true });
      expect(await readFile(file, "utf8"))
        .to.match(/^[0-9a-f]{32}$/)
        .and.not.equal(OLD);
    });

  it("is the same for processes that generate it simultaneously", async () => {
    const cacheDir = await folder();
    const found = await Promise.all(Array.from({ length: 30 }, () => findShareSecret({ cacheDir })));
    for (const { file } of found) expect(file).to.equal(join(cacheDir, "share-secret"));
    expect(await readdir(cacheDir)).to.deep.equal(["share-secret"]);
  });
});
