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
 * A check gives a sentence for each problem. The longest stand first, so that none is left to run alone at the end.
 *
 * @type {Record<string, () => Promise<string[]>>}
 */
const CHECKS = {
  lint: () => problemsOf("@biomejs/biome/bin/biome", ["ci", "--colors=off", "."]),
  "package types": checkPackageTypes,
  "API reference": writeApiReference,
  "types of scripts": () => problemsOf("typescript/bin/tsc", ["-p", "scripts/tsconfig.json"]),
  layers: checkLayers,
  sources: checkSources,
  "dead code": () => problemsOf("knip/bin/knip.js", ["--no-progress", "--treat-config-hints-as-errors"]),
  "Lisp systems": () => checkLispSystem(),
  "package files": checkPackageFiles,
  "tools/list budget": checkToolsListBudget,
  "generated docs": checkPages,
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
  const chosen = Object.entries(checks).filter(([name]) => names.length === 0 || names.includes(name));
  const counts = { passed: 0, failed: 0 };
  const first = chosen.filter(([name]) => name === "build");
  const others = chosen.filter(([name]) => name !== "build");
  for (const problems of [...(await inTurn(first, 1)), ...(await inTurn(others, 2))]) {
    counts[problems.length === 0 ? "passed" : "failed"] += 1;
  }
  process.stdout.write(`\n${closingLine(counts)}\n`);
  return counts.failed === 0 ? 0 : 1;
}

/**
 * Runs some checks side by side, because most use one processor. Each is reported when it ends.
 *
 * @param {readonly [name: string, check: () => Promise<string[]>][]} checks
 * @param {number} workers
 * @returns {Promise<string[][]>} the problems that each found
 */
async function inTurn(checks, workers) {
  const queue = checks.values();
  /** @type {string[][]} */
  const found = [];
  const work = async () => {
    for (const [name, check] of queue) {
      const problems = await check().catch((error) => [error.message]);
      process.stdout.write(problems.length === 0 ? `ok     ${name}\n` : `FAILED ${name}\n${problems.join("\n")}\n\n`);
      found.push(problems);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return found;
}

/** Compiles the packages, before the checks that read what is compiled; the compiler writes its errors to stderr. */
async function compile() {
  await build();
  return [];
}
