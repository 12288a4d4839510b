import { problemsOf } from "./run-captured.mjs";

const PACKAGES = ["packages/sexp-parser", "packages/swank-client", "packages/swank-mcp"];

/** Checks with publint that each package, packed as for npm, describes its files correctly. */
export async function checkPackageFiles() {
  return (
    await Promise.all(PACKAGES.map((path) => problemsOf("publint/src/cli.js", ["run", path, "--strict"])))
  ).flat();
}

/** Checks with Are The Types Wrong that TypeScript finds the types of each packed package where Node finds its code. */
export async function checkPackageTypes() {
  const attw = (/** @type {string} */ path) =>
    problemsOf("@arethetypeswrong/cli/dist/index.js", ["--pack", path, "--profile", "esm-only"]);
  // One after the other, because packing with npm, the main part of the work, does not gain from parallel runs.
  const problems = [];
  for (const path of PACKAGES) problems.push(...(await attw(path)));
  return problems;
}
