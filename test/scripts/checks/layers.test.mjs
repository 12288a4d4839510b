import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { inRepository } from "../../../scripts/setup/paths.mjs";

const CLIENT = "packages/swank-client/src";
const SERVER = "packages/swank-mcp/src";

/** Files that can be imported: the built packages, and another package. */
const FOUNDATION = {
  ...Object.fromEntries(
    ["sexp-parser", "swank-client", "swank-mcp"].flatMap((name) => [
      [`packages/${name}/package.json`, `{ "name": "${name}", "exports": { ".": "./dist/index.js" } }`],
      [`packages/${name}/dist/index.js`, "export const it = 1;"],
    ]),
  ),
  "node_modules/zod/package.json": '{ "name": "zod", "exports": "./index.js" }',
  "node_modules/zod/index.js": "export const it = 1;",
  [`${CLIENT}/a.ts`]: "export const a = 1;",
  [`${SERVER}/text/cut.ts`]: "export interface Cut { readonly a: 1 }",
  [`${SERVER}/session/host.ts`]: "export interface Host { readonly a: 1 }",
  [`${SERVER}/tools/other.ts`]: "export const other = 1;",
};

/** Files, and the rule that each one violates, if any. */
const FILES = [
  { path: `${CLIENT}/good.ts`, source: 'import { it } from "sexp-parser";\nimport "node:fs";\nimport "./a.js";\nit;' },
  { path: `${SERVER}/base/good.ts`, source: 'import { it } from "zod";\nit;\nawait import("swank-client");' },
  {
    path: `${SERVER}/report/good.ts`,
    source: 'import type { Host } from "../session/host.js";\nexport type H = Host;',
  },
  { path: "packages/sexp-parser/src/up.ts", source: 'import "swank-client";', rule: "sexp-parser-imports" },
  { path: "packages/sexp-parser/src/node.ts", source: 'import "node:fs";', rule: "sexp-parser-imports" },
  { path: `${CLIENT}/up.ts`, source: 'import "swank-mcp";', rule: "swank-client-imports" },
  {
    path: `${CLIENT}/zod.ts`,
    source: 'import type * as z from "zod";\nexport type Z = z.it;',
    rule: "swank-client-imports",
  },
  { path: `${CLIENT}/export.ts`, source: 'export { it } from "zod";', rule: "swank-client-imports" },
  { path: `${CLIENT}/lazy.ts`, source: 'await import("zod");', rule: "swank-client-imports" },
  { path: `${SERVER}/mcp/over.ts`, source: 'import "sexp-parser";', rule: "swank-mcp-imports" },
  { path: `${SERVER}/mcp/out.ts`, source: 'import "../../../swank-client/src/a.js";', rule: "swank-mcp-imports" },
  {
    path: `${SERVER}/text/up.ts`,
    source: 'import type { Host } from "../session/host.js";\nexport type H = Host;',
    rule: "folder-text",
  },
  { path: `${SERVER}/call/side.ts`, source: 'import "../tools/other.js";', rule: "folder-call" },
  { path: `${SERVER}/stray.ts`, source: 'import "./text/cut.js";', rule: "no-unknown-folder" },
  { path: `${SERVER}/odd/file.ts`, source: 'import "../text/cut.js";', rule: "no-unknown-folder" },
  { path: `${CLIENT}/odd/file.ts`, source: 'import "../a.js";', rule: "no-unknown-folder" },
  { path: `${CLIENT}/wire/up.ts`, source: 'import "../a.js";', rule: "folder-wire" },
  { path: "packages/new-one/src/a.ts", source: 'import "node:fs";', rule: "no-unknown-package" },
];

/**
 * Returns the rules that each file below a folder violates.
 *
 * @param {string} folder
 * @returns {Promise<Map<string, string[]>>} by path; files without a violation are omitted
 */
function breaches(folder) {
  const program = inRepository("node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const args = ["--config", inRepository("scripts/checks/layers.mjs"), "--output-type", "json", "packages"];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], { cwd: folder, maxBuffer: 2 ** 24 }, (_error, stdout, stderr) => {
      if (stdout === "") return reject(new Error(stderr));
      /** @type {Map<string, string[]>} */
      const broken = new Map();
      for (const { from, rule } of JSON.parse(stdout).summary.violations)
        broken.set(from, [...new Set([...(broken.get(from) ?? []), rule.name])]);
      resolve(broken);
    });
  });
}

describe("layers.mjs", () => {
  /** @type {string} */
  let folder;
  /** @type {Map<string, string[]>} */
  let broken;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "layers-")));
    const files = { ...FOUNDATION, ...Object.fromEntries(FILES.map(({ path, source }) => [path, source])) };
    for (const [path, source] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), source);
    }
    for (const name of ["sexp-parser", "swank-client", "swank-mcp"])
      await symlink(join(folder, "packages", name), join(folder, "node_modules", name));
    broken = await breaches(folder);
  });
  after(() => rm(folder, { recursive: true }));

  for (const { path, rule } of FILES)
    it(rule === undefined ? `allows ${path}` : `refuses ${path} by ${rule}`, () => {
      expect(broken.get(path) ?? []).to.deep.equal(rule === undefined ? [] : [rule]);
    });
});
