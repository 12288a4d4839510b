import { chmod, link, mkdir, mkdtemp, readdir, realpath, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { CodeCache } from "swank-mcp";

const CODE = Buffer.from("compiled code");

describe("CodeCache", () => {
  let home: string;
  let folder: string;
  let file: string;
  let cache: CodeCache;

  beforeEach(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), "code-cache-")));
    folder = join(home, "cache/code");
    cache = new CodeCache(folder, "0123");
    cache.write(CODE);
    const [name = ""] = await readdir(folder);
    file = join(folder, name);
  });

  afterEach(() => rm(home, { recursive: true }));

  it("returns what it keeps, for the same program only", () => {
    expect(cache.read()).to.deep.equal(CODE);
    expect(new CodeCache(folder, "4567").read()).to.equal(undefined);
  });

  it("keeps nothing where no folder can be made", () => {
    const nowhere = new CodeCache("/proc/nowhere/cache/code", "0123");
    nowhere.write(CODE);
    expect(nowhere.read()).to.equal(undefined);
  });

  it("keeps the four newest files", async () => {
    for (let id = 0; id < 6; id++) new CodeCache(folder, `${id}`).write(CODE);
    expect(await readdir(folder)).to.have.length(4);
  });

  const CHANGES: Record<string, () => Promise<unknown>> = {
    "if others can write the file": () => chmod(file, 0o622),
    "if the file has another name": () => link(file, join(home, "other")),
    "if the file is a link": async () => {
      await rename(file, join(home, "other"));
      await symlink(join(home, "other"), file);
    },
    "if the file is a folder": async () => {
      await rm(file);
      await mkdir(file);
    },
    "if others can write the folder": () => chmod(folder, 0o770),
    "if others can write a folder above": () => chmod(join(home, "cache"), 0o777),
  };
  for (const [condition, change] of Object.entries(CHANGES)) {
    it(`returns nothing ${condition}`, async () => {
      await change();
      expect(cache.read()).to.equal(undefined);
    });
  }

  it("writes nothing into a folder that others can write", async () => {
    await rm(file);
    await chmod(folder, 0o777);
    cache.write(CODE);
    expect(await readdir(folder)).to.deep.equal([]);
  });
});
