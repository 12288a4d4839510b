import { chmod, link, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { findShareSecret } from "swank-client/launch";
import { folders } from "./launching.js";

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

  for (const [how, spoil] of Object.entries(SPOILT)) {
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
  }

  it("is the same for processes that generate it simultaneously", async () => {
    const cacheDir = await folder();
    const found = await Promise.all(Array.from({ length: 30 }, () => findShareSecret({ cacheDir })));
    for (const { file } of found) expect(file).to.equal(join(cacheDir, "share-secret"));
    expect(await readdir(cacheDir)).to.deep.equal(["share-secret"]);
  });
});
