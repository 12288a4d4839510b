import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { expect } from "chai";
import { inRepository } from "../../../scripts/setup/paths.mjs";

const CLIENT = "packages/swank-client/src";
const SERVER = "packages/swank-mcp/src";
const SOCKETS = 'import { connect } from "node:net";\n\nexport { connect };\n';
const SDK = 'import { McpServer } from "@modelcontextprotocol/server";\n\nexport { McpServer };\n';

/** Files, and the rule that each one violates, if any. */
const FILES = [
  { path: `${CLIENT}/decent.ts`, source: 'export const greeting: string = "hello";\n' },
  { path: `${CLIENT}/any.ts`, source: "export const f = (x: any): unknown => x;\n", rule: "noExplicitAny" },
  { path: `${CLIENT}/bang.ts`, source: "export const f = (x?: string): string => x!;\n", rule: "noNonNullAssertion" },
  {
    path: `${CLIENT}/cast.ts`,
    source: "export const f = (x: unknown) => x as string;\n",
    rule: "noUnsafeTypeAssertion",
  },
  { path: `${CLIENT}/const.ts`, source: "export const colours = [1, 2] as const;\n" },
  { path: `${CLIENT}/float.ts`, source: "async function f() {}\nf();\nexport {};\n", rule: "noFloatingPromises" },
  { path: `${CLIENT}/enum.ts`, source: "export enum Colour {\n  Red,\n}\n", rule: "noEnum" },
  { path: `${CLIENT}/log.ts`, source: 'console.log("to an MCP client");\n', rule: "noConsole" },
  {
    path: `${CLIENT}/long.ts`,
    source: `export function f(): void {\n${"  f();\n".repeat(61)}}\n`,
    rule: "noExcessiveLinesPerFunction",
  },
  { path: `${CLIENT}/CamelCase.ts`, source: "export const one = 1;\n", rule: "useFilenamingConvention" },
  { path: `${CLIENT}/ring-a.ts`, source: 'export { b as a } from "./ring-b.js";\n', rule: "noImportCycles" },
  { path: `${CLIENT}/ring-b.ts`, source: 'export { a as b } from "./ring-a.js";\n', rule: "noImportCycles" },
  { path: `${CLIENT}/wire/transport.ts`, source: SOCKETS },
  { path: `${CLIENT}/protocol/transport/other.ts`, source: SOCKETS, rule: "noRestrictedImports" },
  { path: `${SERVER}/mcp/stdio.ts`, source: SDK, rule: "noRestrictedImports" },
  { path: `${SERVER}/mcp/server.ts`, source: SDK },
  { path: `${SERVER}/mcp/stdio-server.ts`, source: SDK },
  { path: `${SERVER}/mcp/http-peer.ts`, source: SDK },
  { path: `${SERVER}/http/clients.ts`, source: SDK, rule: "noRestrictedImports" },
  { path: `${SERVER}/tools/a.ts`, source: SDK, rule: "noRestrictedImports" },
  { path: `${CLIENT}/sdk.ts`, source: SDK, rule: "noRestrictedImports" },
  { path: "packages/sexp-parser/src/net.ts", source: SOCKETS, rule: "noRestrictedImports" },
  { path: "test/support/fake-server.ts", source: SOCKETS },
];

/**
 * Returns the rules that each file below a folder violates.
 *
 * @param {string} folder real path of a folder with a biome.json
 * @returns {Promise<Map<string, string[]>>} by path from the folder; files without a violation are omitted
 */
function lint(folder) {
  const biome = inRepository("node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "lint", "--vcs-enabled=false", "--max-diagnostics=none", "--reporter=github", "."];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder }, (_error, stdout) => {
      /** @type {Map<string, string[]>} */
      const broken = new Map();
      for (const [, rule = "", path = ""] of stdout.matchAll(/title=lint\/\w+\/(\w+),file=([^,]+),/g)) {
        const name = relative(folder, path);
        broken.set(name, [...(broken.get(name) ?? []), rule]);
      }
      resolve(broken);
    });
  });
}

describe("biome.json", () => {
  /** @type {string} */
  let folder;
  /** @type {Map<string, string[]>} */
  let broken;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "lint-rules-")));
    await copyFile(inRepository("biome.json"), join(folder, "biome.json"));
    for (const { path, source } of FILES) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), source);
    }
    broken = await lint(folder);
  });

  after(() => rm(folder, { recursive: true }));

  for (const { path, rule } of FILES) {
    it(rule === undefined ? `allows ${path}` : `refuses ${path} by ${rule}`, () => {
      expect(new Set(broken.get(path))).to.deep.equal(new Set(rule === undefined ? [] : [rule]));
    });
  }
});
