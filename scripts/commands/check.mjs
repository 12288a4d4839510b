import { checkLayers } from "../checks/check-layers.mjs";
import { checkInspector } from "../checks/inspector.mjs";
import { checkLispSystem } from "../checks/lisp-system.mjs";
import { checkPackageFiles, checkPackageTypes } from "../checks/packages.mjs";
import { problemsOf } from "../checks/run-captured.mjs";
import { checkSources } from "../checks/sources.mjs";
import { checkToolsListBudget } from "../checks/tools-list-budget.mjs";
import { writeApiReference } from "../docs/api-reference.mjs";
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
  layers: checkLayers,
  sources: checkSources,
  "dead code": () => problemsOf("knip/bin/knip.js", ["--no-progress", "--treat-config-hints-as-errors"]),
  "Lisp systems": () => checkLispSystem(),
  "package files": checkPackageFiles,
  "package types": checkPackageTypes,
  "tools/list budget": checkToolsListBudget,
  "generated docs": checkPages,
  "API reference": writeApiReference,
  inspector: checkInspector,
};

/**
 * `npm run check`: runs the checks. The last line of output is `N passed, N failed`.
 *
 * @param {readonly string[]} names of the checks to run; all if empty
 * @returns {Promise<number>} the exit code
 */
export async function run(names) {
  const checks = { build: compile, ...CHECKS };
  const unknown = names.filter((name) => !Object.hasOwn(checks, name));
  if (unknown.length > 0) {
    process.stderr.write(
      `No check is named ${unknown.join(", ")}. The checks are: ${Object.keys(checks).join(", ")}.\n`,
    );
    return 2;
  }
  await ensureDependencies();
  const counts = { passed: 0, failed: 0 };
  for (const [name, check] of Object.entries(checks)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const problems = await check().catch((error) => [error.message]);
    process.stdout.write(problems.length === 0 ? `ok     ${name}\n` : `FAILED ${name}\n${problems.join("\n")}\n\n`);
    counts[problems.length === 0 ? "passed" : "failed"] += 1;
  }
  process.stdout.write(`\n${closingLine(counts)}\n`);
  return counts.failed === 0 ? 0 : 1;
}

/** Compiles the packages; the compiler writes its errors to stderr. */
async function compile() {
  await build();
  return [];
}
