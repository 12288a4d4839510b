import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
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
      const { version: own, dependencies, peerDependencies } = await readJson(`packages/${name}/package.json`);
      const required = { ...dependencies, ...peerDependencies };
      expect(own).to.equal(version);
      for (const other of NAMES) expect(required[other] ?? `^${version}`).to.equal(`^${version}`);
    }
  });

  it("contain the licence", async () => {
    const licence = await readFile(inRepository("LICENSE"), "utf8");
    for (const name of NAMES)
      expect(await readFile(inRepository(`packages/${name}/LICENSE`), "utf8")).to.equal(licence);
  });

  it("install nothing besides the program swank-mcp, which is one bundle", async () => {
    const { dependencies, peerDependencies, peerDependenciesMeta } = await readJson("packages/swank-mcp/package.json");
    expect(dependencies).to.equal(undefined);
    for (const name of Object.keys(peerDependencies))
      expect(peerDependenciesMeta[name]).to.deep.equal({ optional: true });
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

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "bin-shim-"));
    await cp(inRepository("packages/swank-mcp/bin"), join(folder, "packages/swank-mcp/bin"), { recursive: true });
  });

  afterEach(() => rm(folder, { recursive: true }));

  /** @returns {Promise<{ code: unknown, stdout: string, stderr: string }>} */
  const run = () =>
    new Promise((resolve) =>
      execFile(process.execPath, [join(folder, "packages/swank-mcp/bin/swank-mcp.js")], (error, stdout, stderr) => {
        resolve({ code: error?.code, stdout, stderr });
      }),
    );

  it("names the remedy on standard error if there is no build", async () => {
    const result = await run();
    expect(result).to.deep.include({ code: 1, stdout: "" });
    expect(result.stderr).to.include("npm run build");
  });
});
