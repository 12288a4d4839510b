import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect } from "chai";
import { unzipSync } from "fflate";
import { about } from "../../../scripts/manifests/manifests.mjs";
import { packMcpb } from "../../../scripts/manifests/mcpb.mjs";

describe("packMcpb", () => {
  /** @type {string} */
  let folder;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "mcpb-"));
  });

  after(() => rm(folder, { recursive: true }));

  it("packs the program, its licences and a manifest that lists the tools; equal files give an equal archive", async () => {
    const path = await packMcpb(join(folder, "first"));
    expect(basename(path)).to.equal(`swank-mcp-${(await about()).version}.mcpb`);
    const archive = await readFile(path);
    const files = unzipSync(archive);
    expect(files).to.include.keys(
      "bin/swank-mcp.js",
      "dist/program/swank-mcp.cjs",
      "dist/program/licences.txt",
      "LICENSE",
    );
    expect(Object.keys(files).filter((name) => /\.map$|^src\/|node_modules/.test(name))).to.deep.equal([]);
    const manifest = JSON.parse(Buffer.from(files["manifest.json"] ?? []).toString());
    expect(manifest.tools.map((/** @type {{ name: string }} */ { name }) => name)).to.include("evaluate-lisp");
    const second = await readFile(await packMcpb(join(folder, "second")));
    expect(unzipSync(second)).to.have.all.keys(Object.keys(files));
    expect(archive.equals(second)).to.equal(true);
  });
});
