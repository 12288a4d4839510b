import { checkInspector } from "../checks/inspector.mjs";
import { checkPackageFiles, checkPackageTypes } from "../checks/packages.mjs";
import { problemsOf } from "../checks/run-captured.mjs";
import { checkSources } from "../checks/sources.mjs";
import { checkToolsListBudget } from "../checks/tools-list-budget.mjs";
import { checkPages } from "../docs/pages.mjs";
import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";
import { closingLine } from "../testing/run-result.mjs";

/**
 * A check gives a sentence for each problem.
 *
 * @type {Record<string, () => Promise<string[]>>}
 */
const CHECKS = {
  lint: () => problemsOf("@biomejs/biome/bin/biome", ["ci", "--colors=off", "."]),
  "types of scripts": () => problemsOf("typescript/bin/tsc", ["-p", "scripts/tsconfig.json"]),
  "layers and sources": checkSources,
  "package files": checkPackageFiles,
  "package types": checkPackageTypes,
  "tools/list budget": checkToolsListBudget,
  "generated docs": checkPages,
  inspector: checkInspector,
};

/**
 * `npm run check`: everything but the tests, closing with a line `N passed, N failed`.
 *
 * @param {readonly string[]} names of the checks to run; none means all
 * @returns {Promise<number>} the exit code
 */
export async function run(names) {
  await ensureDependencies();
  const counts = { passed: 0, failed: 0 };
  for (const [name, check] of Object.entries({ build: compile, ...CHECKS })) {
    if (names.length > 0 && !names.includes(name)) continue;
    const problems = await check().catch((error) => [error.message]);
    process.stdout.write(problems.length === 0 ? `ok     ${name}\n` : `FAILED ${name}\n${problems.join("\n")}\n\n`);
    counts[problems.length === 0 ? "passed" : "failed"] += 1;
  }
  process.stdout.write(`\n${closingLine(counts)}\n`);
  return counts.failed === 0 ? 0 : 1;
}

/** The compiler's own words go to stderr as they come. */
async function compile() {
  await build();
  return [];
}
