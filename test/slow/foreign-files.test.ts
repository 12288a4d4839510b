import { chmod, chown, cp, lchown, lstat, mkdir, mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type LaunchedImage, type LaunchImageOptions, launchImage } from "swank-client/launch";

/** A user who owns nothing here. */
const NOBODY = 65_534;

describe("launchImage with another user's files in the cache folder, as root", function () {
  this.timeout(300_000);
  const temporary = process.env["TMPDIR"];
  let original: string;
  let folder: string;
  let cacheDir: string;
  const images: LaunchedImage[] = [];

  async function launch(options: LaunchImageOptions): Promise<LaunchedImage> {
    const image = await launchImage({ runtimeSources: [], ...options });
    images.push(image);
    return image;
  }

  before(async () => {
    if (process.getuid?.() !== 0) throw new Error("Files can be given to another user by root only.");
    original = await mkdtemp(join(await realpath(tmpdir()), "foreign-files-"));
    await launch({ cacheDir: original });
    await launch({ cacheDir: original, useCore: false });
  });

  beforeEach(async () => {
    folder = await mkdtemp(join(await realpath(tmpdir()), "foreign-files-"));
    cacheDir = join(folder, "cache");
    await cp(original, cacheDir, { recursive: true, preserveTimestamps: true });
    // Files that cannot be kept in the cache folder are kept here, together with a core.
    await cp(original, join(folder, "swank-toolkit-0"), { recursive: true, preserveTimestamps: true });
    process.env["TMPDIR"] = folder;
  });

  afterEach(async () => {
    if (temporary === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = temporary;
    await Promise.all(images.splice(0).map((image) => image.stop()));
    await rm(folder, { recursive: true });
  });

  after(() => rm(original, { recursive: true }));

  async function only(parent: string, ending = ""): Promise<string> {
    const [name = ""] = (await readdir(parent)).filter((each) => each.endsWith(ending));
    return join(parent, name);
  }

  it("does not run another user's core, even if the folder has been closed to others since", async () => {
    const core = await only(cacheDir, ".core");
    await chown(core, NOBODY, NOBODY);
    await chmod(cacheDir, 0o700);
    const { how, notes } = await launch({ cacheDir });
    expect([how, notes]).to.deep.equal([
      "built-core",
      [`The core ${core} was not used and is rebuilt: it belongs to another user.`],
    ]);
    expect((await lstat(core)).uid).to.equal(0);
  });

  it("does not read another user's description of SBCL", async () => {
    const file = await only(join(cacheDir, "lisp"));
    await chown(file, NOBODY, NOBODY);
    expect((await launch({ cacheDir })).how).to.equal("core");
    expect((await lstat(file)).uid).to.equal(0);
  });

  it("does not load another user's compiled files, or folders of them", async () => {
    const compiled = await only(join(cacheDir, "fasl"));
    for (const planted of [join(compiled, "swank.fasl"), compiled]) {
      await chown(planted, NOBODY, NOBODY);
      const { notes } = await launch({ cacheDir, useCore: false });
      expect(notes.join()).to.include(`The compiled files in ${compiled} were not used and are rebuilt`);
      expect((await lstat(planted)).uid).to.equal(0);
    }
  });

  it("does not use another user's folder, a folder below one, or the target of another user's link", async () => {
    const foreign = join(folder, "foreign");
    await mkdir(join(foreign, "cache"), { recursive: true });
    await chown(foreign, NOBODY, NOBODY);
    const link = join(folder, "link");
    await symlink(cacheDir, link);
    await lchown(link, NOBODY, NOBODY);
    const because = (path: string, which: string) => `${path} cannot be used: ${which}, which leads to it, belongs`;
    for (const [path, why] of [
      [foreign, `${foreign} belongs`],
      [join(foreign, "cache"), because(join(foreign, "cache"), foreign)],
      [link, `${link} belongs`],
      [join(link, "below"), because(join(link, "below"), link)],
    ] as const) {
      const { how, notes } = await launch({ cacheDir: path });
      const kept = join(folder, "swank-toolkit-0");
      expect([how, notes]).to.deep.equal([
        "core",
        [`Files are kept between launches in ${kept}: ${why} to another user.`],
      ]);
    }
  });
});
