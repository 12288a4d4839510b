import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { expandFolders, testFiles } from "../../../scripts/testing/test-files.mjs";

describe("files of a test run", () => {
  /** @type {string} */
  let root;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), "test-files-"));
    for (const folder of ["test/dist/a/b", "test/dist/slow", "test/a/b"])
      await mkdir(join(root, folder), { recursive: true });
    for (const file of ["a/y.test.js", "a/b/x.test.js", "a/helper.js", "slow/z.test.js"])
      await writeFile(join(root, "test/dist", file), "");
  });

  after(() => rm(root, { recursive: true }));

  it("are the files that the configuration names and does not ignore", async () => {
    const config = { spec: ["test/dist/**/*.test.js"], ignore: ["test/dist/slow/**"] };
    expect(await testFiles(config, root)).to.deep.equal(["test/dist/a/b/x.test.js", "test/dist/a/y.test.js"]);
  });

  it("are refused if the configuration has an unsupported pattern", async () => {
    const error = await testFiles({ spec: ["test/{a,b}.js"] }, root).catch((reason) => reason);
    expect(error.message).to.include("not test/{a,b}.js");
  });

  it("are the files below a named folder", async () => {
    const files = ["test/dist/a/b/x.test.js", "test/dist/a/y.test.js"];
    expect(await expandFolders(["./test/a/b/", "-g", "test of a"], files, root)).to.deep.equal([
      "test/dist/a/b/x.test.js",
      "-g",
      "test of a",
    ]);
    expect(await expandFolders(["test/a", "test/a/y.test.ts"], files, root)).to.deep.equal([
      ...files,
      "test/a/y.test.ts",
    ]);
    expect(await expandFolders(["test/dist/a"], files, root)).to.deep.equal(files);
  });
});
