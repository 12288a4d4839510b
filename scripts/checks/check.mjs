import { checkPages, writeApiReference } from "../docs/pages.mjs";
import { checkManifests } from "../manifests/manifests.mjs";
import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";
import { ensureLisp } from "../setup/lisp.mjs";
import { problemsOf } from "../setup/programs.mjs";
import { closingLine } from "../testing/run-tests.mjs";
import { checkInspector } from "./inspector.mjs";
import { checkLispSystem } from "./lisp-system.mjs";
import { checkPageSize, checkToolsListBudget } from "./sizes.mjs";
import { checkSources } from "./sources.mjs";

const PACKAGES = ["packages/sexp-parser", "packages/swank-client", "packages/swank-mcp"];

/** Packing runs no scripts: `prepack` would build again, while other checks read the build. */
const PACKING = { npm_config_ignore_scripts: "true" };

/**
 * A check gives a sentence for each problem. The first checks take longest, or wait for the network.
 *
 * @type {Record<string, () => Promise<string[]>>}
 */
const CHECKS = {
  lint: () => problemsOf("@biomejs/biome/bin/biome", ["ci", "--colors=off", "."]),
  inspector: checkInspector,
  "API reference": writeApiReference,
  "Lisp systems": () => checkLispSystem(),
  "package types": checkPackageTypes,
  "dead code": () => problemsOf("knip/bin/knip.js", ["--no-progress", "--treat-config-hints-as-errors"]),
  layers: checkLayers,
  "package files": checkPackageFiles,
  "types of scripts": () => problemsOf("typescript/bin/tsc", ["-p", "scripts/tsconfig.json"]),
  sources: checkSources,
  "tools/list budget": checkToolsListBudget,
  "page size": checkPageSize,
  "generated docs": checkPages,
  manifests: checkManifests,
};

/** The checks that read only files of the repository. The others need the build. */
const READ_SOURCES = ["lint", "types of scripts", "sources"];

/** The checks that run a Lisp. */
const RUN_LISP = ["inspector", "Lisp systems"];

/** Number of checks that run side by side: most use one processor. */
const WORKERS = 2;

/**
 * Runs the checks. The last line of output is `N passed, N failed`.
 *
 * @param {readonly string[]} names of the checks to run; all if empty
 */
export async function check(names) {
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
  const others = chosen.filter(([name]) => name !== "build");
  const first = others.length < chosen.length ? [await result("build", compile)] : [];
  if (first.length === 0 && !others.every(([name]) => READ_SOURCES.includes(name))) await build();
  // Installed here, because two checks at once would both install it. They report why it is missing.
  if (others.some(([name]) => RUN_LISP.includes(name))) await ensureLisp().catch(() => undefined);
  const results = [...first, ...(await resultsOf(others))];
  const passed = results.filter(Boolean).length;
  const counts = { passed, failed: results.length - passed };
  process.stdout.write(`\n${closingLine(counts)}\n`);
  return counts.failed === 0 ? 0 : 1;
}

/**
 * @param {readonly (readonly [name: string, check: () => Promise<string[]>])[]} checks
 * @returns {Promise<boolean[]>} whether each passed, in the order of their ends
 */
async function resultsOf(checks) {
  const queue = checks.values();
  /** @type {boolean[]} */
  const results = [];
  const worker = async () => {
    for (const [name, check] of queue) results.push(await result(name, check));
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return results;
}

/**
 * Runs a check, and prints its result when it ends.
 *
 * @param {string} name
 * @param {() => Promise<string[]>} check
 * @returns {Promise<boolean>} whether it passed
 */
async function result(name, check) {
  const problems = await check().catch((error) => [error.message]);
  process.stdout.write(problems.length === 0 ? `ok     ${name}\n` : `FAILED ${name}\n${problems.join("\n")}\n\n`);
  return problems.length === 0;
}

/** Compiles the packages; the compiler writes its errors to stderr. */
async function compile() {
  await build();
  return [];
}

/** The direction of imports between packages and folders, including imports of types. */
function checkLayers() {
  const sources = PACKAGES.map((folder) => `${folder}/src`);
  const options = ["--config", "scripts/checks/layers.mjs", "--output-type", "err-long"];
  return problemsOf("dependency-cruiser/bin/dependency-cruise.mjs", [...options, ...sources]);
}

/** With publint: each package, packed as for npm, describes its files correctly. */
function checkPackageFiles() {
  return problemsOfPackages((folder) =>
    problemsOf("publint/src/cli.js", ["run", folder, "--pack", "npm", "--strict"], PACKING),
  );
}

/** With Are The Types Wrong: TypeScript finds the types of each package, packed as for npm, where Node finds its code. */
function checkPackageTypes() {
  const options = ["--profile", "esm-only", "--no-color", "--no-emoji"];
  return problemsOfPackages((folder) =>
    problemsOf("@arethetypeswrong/cli/dist/index.js", ["--pack", folder, ...options], PACKING),
  );
}

/** @param {(folder: string) => Promise<string[]>} check of a package */
async function problemsOfPackages(check) {
  const problems = [];
  for (const folder of PACKAGES) problems.push(...(await check(folder)));
  return problems;
}
