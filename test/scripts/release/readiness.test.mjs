import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { packageDefinition } from "../../../scripts/release/emacs.mjs";
import { otherProblems } from "../../../scripts/release/publish.mjs";
import {
  changesOf,
  checkVersions,
  EMACS,
  emacsHeader,
  missingFor,
  versionProblems,
} from "../../../scripts/release/readiness.mjs";
import { readRecord, writeRecord } from "../../../scripts/release/record.mjs";
import { release } from "../../../scripts/release/release.mjs";
import { inRepository } from "../../../scripts/setup/paths.mjs";

describe("versionProblems", () => {
  const packages = {
    parser: { version: "1.2.0" },
    server: { version: "1.2.0", dependencies: { parser: "^1.2.0", zod: "^4.0.0" } },
  };

  it("accepts equal versions, whatever those of other packages are", () => {
    expect(versionProblems("1.2.0", packages, { "x.el": "1.2.0" })).to.deep.equal([]);
  });

  it("names each file, and each package that is required in another version", () => {
    const server = { version: "1.2.0", peerDependencies: { parser: "^1.1.0" } };
    expect(versionProblems("1.2.0", { ...packages, server }, { "x.el": "1.1.0" })).to.deep.equal([
      "x.el has version 1.1.0, but package.json has 1.2.0.",
      "packages/server/package.json, parser has version 1.1.0, but package.json has 1.2.0.",
    ]);
  });

  it("finds nothing in this repository", async () => {
    const { version } = JSON.parse(await readFile(inRepository("package.json"), "utf8"));
    expect(await checkVersions(version)).to.deep.equal([]);
  });
});

describe("changesOf", () => {
  const changelog =
    "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-12-01\n\n### Added\n\n- It.\n\n## [1.1.0]\n\n- Old.\n";

  it("returns the section of a version, without its title", () => {
    expect(changesOf(changelog, "1.2.0")).to.equal("### Added\n\n- It.");
    expect(changesOf(changelog, "1.1.0")).to.equal("- Old.");
  });

  it("finds no empty section, and none whose version only begins alike", () => {
    expect(changesOf(changelog, "Unreleased")).to.equal(undefined);
    expect(changesOf(changelog, "1.2")).to.equal(undefined);
  });
});

describe("missingFor", () => {
  const ready = {
    version: "1.2.0",
    changelog: "## [1.2.0]\n\n- It.\n",
    tags: ["v1.2.0"],
    changed: [],
    environment: { NODE_AUTH_TOKEN: "t" },
  };

  it("finds nothing missing for a commit that is tagged, clean and described, with a token", () => {
    expect(missingFor(ready)).to.deep.equal([]);
  });

  it("names all that is missing", () => {
    const state = { ...ready, changelog: "", tags: ["v1.1.0"], changed: ["a.ts", "b.ts"], environment: {} };
    expect(missingFor(state).map((sentence) => sentence.slice(0, 30))).to.deep.equal([
      "CHANGELOG.md has no section [1",
      "The commit has no tag v1.2.0.",
      "Files are not committed: a.ts,",
      "NODE_AUTH_TOKEN has no token o",
    ]);
  });
});

describe("the Emacs package", () => {
  it("is defined as its main file says", async () => {
    const header = emacsHeader(await readFile(inRepository(EMACS), "utf8"));
    expect(packageDefinition(header)).to.match(
      /^\(define-package "swank-mcp" "\d+\.\d+\.\d+" "See, steer [^"]+" '\(\(emacs "27\.1"\)\)\n {2}:url "https:[^"]+" :keywords '\("lisp" "languages" "tools"\)\)\n$/,
    );
  });
});

describe("the record of what was tried", () => {
  it("accepts the same files of the same commit, and names what differs", async () => {
    const folder = await mkdtemp(join(tmpdir(), "release-"));
    try {
      await writeFile(join(folder, "a.tgz"), "a");
      const problems = async (/** @type {string} */ commit) => (await readRecord(folder, commit, ["a.tgz"])).problems;
      expect((await problems("c1")).join()).to.include("Nothing was tried yet");
      await writeRecord(folder, "c1", [join(folder, "a.tgz")]);
      expect(await problems("c1")).to.deep.equal([]);
      expect(await problems("c2")).to.deep.equal(["What was tried is of the commit c1, not of c2."]);
      await writeFile(join(folder, "a.tgz"), "b");
      expect(await problems("c1")).to.deep.equal(["a.tgz is not the file that was tried."]);
      await writeRecord(folder, undefined, [join(folder, "a.tgz")]);
      expect(await problems("c1")).to.deep.equal(["What was tried is of no commit, not of c1."]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("tells a package that was published in an earlier attempt from another one", () => {
    const digests = { "a.tgz": "sha512-1", "b.tgz": "sha512-2" };
    expect(otherProblems(["a.tgz", "b.tgz"], digests, [undefined, "sha512-2"])).to.deep.equal([]);
    expect(otherProblems(["a.tgz", "b.tgz"], digests, ["sha512-3", undefined])).to.deep.equal([
      "The registry has another a.tgz: release a new version.",
    ]);
  });
});

describe("publishing", () => {
  it("loads no code of other packages, which could read the token", async () => {
    const seen = new Set();
    const visit = async (/** @type {string} */ path) => {
      if (seen.has(path)) return;
      seen.add(path);
      const text = await readFile(path, "utf8");
      for (const [, from, called] of text.matchAll(/from "([^"]+)"|import\("([^"]+)"\)/g)) {
        const name = from ?? called ?? "";
        expect(name, path).to.match(/^(?:node:|\.)/);
        if (name.startsWith(".")) await visit(join(path, "..", name));
      }
    };
    await visit(inRepository("scripts/release/publish.mjs"));
    expect(seen.size).to.be.above(3);
  });
});

describe("release", () => {
  it("refuses arguments that it does not know, before it does anything", async () => {
    expect(await release(["--dryrun"]).catch((error) => error.message)).to.include("--dry-run");
  });
});
