import { expect } from "chai";
import { isInstalled } from "../../../scripts/setup/dependencies.mjs";

const WANTED = {
  packages: {
    "": { version: "0.1.0" },
    "node_modules/chai": { version: "6.3.0", integrity: "sha512-a" },
    "node_modules/cli-darwin": { version: "1.0.0", integrity: "sha512-b", optional: true },
    "node_modules/sexp-parser": { link: true },
    "packages/sexp-parser": { version: "0.1.0" },
  },
};

/** @param {Record<string, object | undefined>} changes to a complete installation; `undefined` takes a package away */
function installed(changes) {
  const { "": _root, "node_modules/cli-darwin": _other, ...there } = WANTED.packages;
  const entries = Object.entries({ ...there, ...changes }).filter(([, entry]) => entry !== undefined);
  return { packages: Object.fromEntries(entries) };
}

describe("the installation check for npm ci", () => {
  it("accepts a complete installation without packages of other platforms", () => {
    expect(isInstalled(WANTED, installed({}))).to.equal(true);
  });

  it("finds a missing package", () => {
    expect(isInstalled(WANTED, installed({ "node_modules/chai": undefined }))).to.equal(false);
  });

  it("finds a package with another version or content", () => {
    const chai = WANTED.packages["node_modules/chai"];
    expect(isInstalled(WANTED, installed({ "node_modules/chai": { ...chai, version: "6.2.0" } }))).to.equal(false);
    expect(isInstalled(WANTED, installed({ "node_modules/chai": { ...chai, integrity: "sha512-c" } }))).to.equal(false);
  });

  it("finds an added workspace", () => {
    expect(isInstalled(WANTED, installed({ "node_modules/sexp-parser": undefined }))).to.equal(false);
  });
});
