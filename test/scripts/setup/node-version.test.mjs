import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { nodeComplaint, OLDEST_NODE } from "../../../scripts/setup/node-version.mjs";
import { inRepository } from "../../../scripts/setup/paths.mjs";

describe("the check of Node's version", () => {
  it("accepts the oldest supported version and newer ones", () => {
    for (const version of ["20.19.0", "20.20.2", "22.12.0", "26.0.0"])
      expect(nodeComplaint(version)).to.equal(undefined);
  });

  it("names both versions when Node is too old", () => {
    for (const version of ["12.22.0", "18.20.4", "20.9.0", "20.18.3"]) {
      expect(nodeComplaint(version)).to.include("Node 20.19 or newer").and.include(version);
    }
  });

  for (const folder of ["", "packages/sexp-parser/", "packages/swank-client/", "packages/swank-mcp/"]) {
    it(`agrees with engines in ${folder}package.json`, async () => {
      const { engines } = JSON.parse(await readFile(inRepository(`${folder}package.json`), "utf8"));
      expect(engines.node).to.equal(`>=${OLDEST_NODE.join(".")}`);
    });
  }
});
