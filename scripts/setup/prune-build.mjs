import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { inRepository } from "./paths.mjs";

/** The source and output folders of each project. */
export const BUILDS = [
  { source: "packages/sexp-parser/src", output: "packages/sexp-parser/dist" },
  { source: "packages/swank-client/src", output: "packages/swank-client/dist" },
  { source: "packages/swank-mcp/src", output: "packages/swank-mcp/dist" },
  { source: "docs/snippets", output: "docs/snippets/dist" },
  { source: "test", output: "test/dist" },
];

/**
 * Removes compiled files whose source is gone. The compiler does not, so mocha would run them and npm would publish them.
 *
 * @param {readonly { source: string, output: string }[]} builds absolute paths
 */
export async function pruneBuild(
  builds = BUILDS.map(({ source, output }) => ({ source: inRepository(source), output: inRepository(output) })),
) {
  for (const { source, output } of builds) {
    if (!existsSync(output)) continue;
    for (const file of await readdir(output, { recursive: true })) {
      const stem = /^(.*?)\.(?:js|d\.ts)(?:\.map)?$/.exec(file)?.[1];
      if (stem !== undefined && !existsSync(join(source, `${stem}.ts`))) await rm(join(output, file), { force: true });
    }
  }
}
