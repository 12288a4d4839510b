import { problemsOf } from "./run-captured.mjs";

const PACKAGES = ["packages/sexp-parser", "packages/swank-client", "packages/swank-mcp"];

/** Whether each package, packed as npm would publish it, says the truth about its files (publint). */
export async function checkPackageFiles() {
  return (
    await Promise.all(PACKAGES.map((path) => problemsOf("publint/src/cli.js", ["run", path, "--strict"])))
  ).flat();
}

/** Whether TypeScript finds each packed package's types the way Node finds its code (are the types wrong?). */
export async function checkPackageTypes() {
  const attw = (/** @type {string} */ path) =>
    problemsOf("@arethetypeswrong/cli/dist/index.js", ["--pack", path, "--profile", "esm-only"]);
  // One after the other: each packs with npm, which is most of the work.
  const problems = [];
  for (const path of PACKAGES) problems.push(...(await attw(path)));
  return problems;
}
