import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { pruneBuild } from "../../../scripts/setup/build.mjs";

describe("pruneBuild", () => {
  /** @type {string} */
  let folder;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "prune-build-"));
    for (const path of ["src/deep", "dist/deep"]) await mkdir(join(folder, path), { recursive: true });
  });

  afterEach(() => rm(folder, { recursive: true }));

  it("removes every output of a missing source, and no other file", async () => {
    await writeFile(join(folder, "src/deep/kept.ts"), "");
    const outputs = ["kept", "gone", "gone.test"].flatMap((stem) =>
      [".js", ".js.map", ".d.ts", ".d.ts.map"].map((end) => stem + end),
    );
    for (const output of [...outputs, ".tsbuildinfo"]) await writeFile(join(folder, "dist/deep", output), "");
    await pruneBuild([{ source: join(folder, "src"), output: join(folder, "dist") }]);
    expect((await readdir(join(folder, "dist/deep"))).sort()).to.deep.equal(
      [".tsbuildinfo", "kept.d.ts", "kept.d.ts.map", "kept.js", "kept.js.map"].sort(),
    );
  });

  it("keeps the bundle, which another process may be reading", async () => {
    await mkdir(join(folder, "dist/program/page"), { recursive: true });
    await writeFile(join(folder, "dist/program/page/page.js"), "");
    await pruneBuild([{ source: join(folder, "src"), output: join(folder, "dist") }]);
    expect(await readdir(join(folder, "dist/program/page"))).to.deep.equal(["page.js"]);
  });

  it("does nothing before the first build", async () => {
    await pruneBuild([{ source: join(folder, "src"), output: join(folder, "never-built") }]);
  });
});
