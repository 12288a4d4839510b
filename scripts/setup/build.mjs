import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { bundle } from "../bundle/bundle.mjs";
import { inRepository } from "./paths.mjs";
import { runInstalled, SetupError } from "./programs.mjs";

/** The package whose program is bundled, and its page for the browser. */
const PROGRAM = "packages/swank-mcp";

const PAGE = "packages/swank-mcp/page";

/** The source and output folders of each project. */
const BUILDS = [
  ...["sexp-parser", "swank-client", "swank-mcp"].map((name) => ({
    source: `packages/${name}/src`,
    output: `packages/${name}/dist`,
  })),
  { source: `${PAGE}/src`, output: `${PAGE}/dist` },
  { source: "docs/snippets", output: "docs/snippets/dist" },
  { source: "test", output: "test/dist" },
].map(({ source, output }) => ({ source: inRepository(source), output: inRepository(output) }));

/**
 * Compiles changed files, removes compiled files whose source is gone, and bundles the program swank-mcp.
 *
 * @param {readonly string[]} projects folders with a tsconfig.json, their references included; all if empty
 * @throws {SetupError} if the compiler reports an error
 */
export async function build(projects = []) {
  await pruneBuild();
  const isBundled = projects.length === 0 || projects.includes(PROGRAM);
  const code = await runInstalled("typescript/bin/tsc", [
    "-b",
    ...projects,
    ...(isBundled && projects.length > 0 ? [PAGE] : []),
  ]);
  if (code !== 0) throw new SetupError("The build failed. The compiler's errors are above.");
  if (isBundled) await bundle();
}

/** Removes compiled files whose source is gone. The compiler does not, so mocha would run them and npm would publish them. The bundle is not compiled. */
export async function pruneBuild(builds = BUILDS) {
  for (const { source, output } of builds) {
    if (!existsSync(output)) continue;
    for (const file of await readdir(output, { recursive: true })) {
      const stem = /^(.*?)\.(?:js|d\.ts)(?:\.map)?$/.exec(file)?.[1];
      if (stem === undefined || stem.startsWith("program/")) continue;
      if (!existsSync(join(source, `${stem}.ts`))) await rm(join(output, file), { force: true });
    }
  }
}

/** Removes compiled files and coverage reports, but not the installed packages. */
export async function clean() {
  const folders = [...BUILDS.map(({ output }) => output), inRepository("coverage"), inRepository("dist")];
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
}
