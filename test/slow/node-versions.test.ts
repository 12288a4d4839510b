import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { type RealSwank, startRealSwank } from "../support/real-swank.js";
import { ENVIRONMENT } from "../support/server-process.js";
import { USER_CACHE } from "../support/test-cache.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PACKAGES = ["sexp-parser", "swank-client", "swank-mcp"];
const NODE_VERSIONS = ["20", "22", "24"];

/** The strictest settings of TypeScript 7; declarations of packages are checked, too. */
const STRICTEST = {
  target: "ES2023",
  lib: ["ES2023", "ESNext.Disposable"],
  module: "NodeNext",
  strict: true,
  skipLibCheck: false,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noFallthroughCasesInSwitch: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  types: ["node"],
  outDir: "out",
};

/** Runs a program, and returns its standard output. */
async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  environment = {},
  input = "",
): Promise<string> {
  const running = promisify(execFile)(program, args, {
    cwd,
    env: { ...process.env, FORCE_COLOR: "0", ...environment },
    maxBuffer: 64 * 1024 * 1024,
  });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

/** Installs packages of the npm registry, or tarballs. */
const install = (folder: string, ...packages: readonly string[]) =>
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefer-offline", ...packages], folder);

describe("The packed packages in an empty project", () => {
  let folder: string;
  let project: string;
  let names: readonly string[];
  let swank: RealSwank;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "packed-"));
    project = join(folder, "project");
    await mkdir(project);
    for (const name of PACKAGES) {
      await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], join(ROOT, "packages", name));
    }
    const tarballs = (await readdir(folder)).filter((file) => file.endsWith(".tgz")).map((file) => join(folder, file));
    await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
    await install(project, ...tarballs, "typescript@7", "@types/node@20");
    const snippets = join(ROOT, "docs/snippets");
    const files = (await readdir(snippets)).filter((file) => file.endsWith(".ts"));
    for (const file of files) await cp(join(snippets, file), join(project, file));
    names = files.map((file) => file.replace(".ts", ""));
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: STRICTEST, include: ["*.ts"] }));
    swank = await startRealSwank();
  });
  after(async () => {
    await swank.stop();
    await rm(folder, { recursive: true });
  });

  it("compile with the code of the documentation in the strictest settings", async () => {
    await run(process.execPath, ["node_modules/typescript/bin/tsc"], project);
  });

  for (const version of NODE_VERSIONS) {
    describe(`with Node ${version}`, () => {
      let node: string;

      before(async () => {
        const home = join(folder, `node-${version}`);
        await mkdir(home);
        await writeFile(join(home, "package.json"), JSON.stringify({ private: true }));
        await install(home, `node@${version}`);
        node = join(home, "node_modules/node/bin/node");
      });

      it("is that version", async () => {
        expect(await run(node, ["--version"], project)).to.match(new RegExp(`^v${version}\\.`));
      });

      it("run the programs of the documentation with the same output as in this Node", async () => {
        const environment = { SWANK_PORT: `${swank.port}`, XDG_CACHE_HOME: USER_CACHE };
        for (const name of names) {
          const file = join("out", `${name}.js`);
          const expected = await run(process.execPath, [file], project, environment);
          expect([name, await run(node, [file], project, environment)]).to.deep.equal([name, expected]);
        }
      });

      it("evaluate in the console of swank-mcp", async () => {
        const args = ["node_modules/.bin/swank-mcp", "console"];
        expect(await run(node, args, project, ENVIRONMENT, "(+ 1 2)\n")).to.include("=> 3");
      });
    });
  }
});
