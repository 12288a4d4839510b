import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { inRepository } from "../../scripts/setup/paths.mjs";

const NAMES = ["sexp-parser", "swank-client", "swank-mcp"];

/** @param {string} path */
const readJson = async (path) => JSON.parse(await readFile(inRepository(path), "utf8"));

describe("published packages", () => {
  it("have the same version and require each other in that version", async () => {
    const { version } = await readJson("package.json");
    for (const name of NAMES) {
      const { version: own, dependencies = {} } = await readJson(`packages/${name}/package.json`);
      expect(own).to.equal(version);
      for (const other of NAMES) expect(dependencies[other] ?? `^${version}`).to.equal(`^${version}`);
    }
  });

  it("contain the licence", async () => {
    const licence = await readFile(inRepository("LICENSE"), "utf8");
    for (const name of NAMES)
      expect(await readFile(inRepository(`packages/${name}/LICENSE`), "utf8")).to.equal(licence);
  });

  it("run no scripts when they are installed", async () => {
    for (const name of NAMES) {
      const { scripts } = await readJson(`packages/${name}/package.json`);
      expect(Object.keys(scripts)).to.deep.equal(["prepack"]);
    }
  });
});

describe("bin/swank-mcp.js", () => {
  /** @type {string} */
  let folder;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "bin-shim-"));
    await mkdir(join(folder, "bin"));
    await copyFile(inRepository("packages/swank-mcp/bin/swank-mcp.js"), join(folder, "bin/swank-mcp.mjs"));
  });

  after(() => rm(folder, { recursive: true }));

  it("names the remedy on standard error if there is no build", async () => {
    const result = await new Promise((resolve) =>
      execFile(process.execPath, [join(folder, "bin/swank-mcp.mjs")], (error, stdout, stderr) => {
        resolve({ code: error?.code, stdout, stderr });
      }),
    );
    expect(result).to.deep.include({ code: 1, stdout: "" });
    expect(result.stderr).to.include("npm run build");
  });
});
