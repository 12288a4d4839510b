import { mkdir, readFile } from "node:fs/promises";
import { runNpm } from "../setup/dependencies.mjs";
import { inRepository } from "../setup/paths.mjs";
import { SetupError } from "../setup/setup-error.mjs";
import { problemsOf } from "./run-captured.mjs";

const PACKAGES = ["sexp-parser", "swank-client", "swank-mcp"];

/** The folder of the packed packages. */
const FOLDER = "dist/packages";

/** @type {Promise<string[]> | undefined} */
let packed;

/**
 * Checks with publint that each package, packed as for npm, describes its files correctly. Needs the build.
 *
 * @returns {Promise<string[]>}
 */
export async function checkPackageFiles() {
  return problemsOfEach((file) => problemsOf("publint/src/cli.js", ["run", file, "--strict"]));
}

/**
 * Checks with Are The Types Wrong that TypeScript finds the types of each packed package where Node finds its code. Needs the build.
 *
 * @returns {Promise<string[]>}
 */
export async function checkPackageTypes() {
  return problemsOfEach((file) =>
    problemsOf("@arethetypeswrong/cli/dist/index.js", [file, "--profile", "esm-only", "--no-color", "--no-emoji"]),
  );
}

/** @param {(file: string) => Promise<string[]>} check of a packed package */
async function problemsOfEach(check) {
  packed ??= pack();
  const problems = [];
  for (const file of await packed) problems.push(...(await check(file)));
  return problems;
}

/**
 * Packs the packages, once for all checks, without building them again: other checks read the build at the same time.
 *
 * @returns {Promise<string[]>} the files
 */
async function pack() {
  await mkdir(inRepository(FOLDER), { recursive: true });
  const workspaces = PACKAGES.flatMap((name) => ["--workspace", name]);
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", FOLDER, ...workspaces];
  if ((await runNpm(args, inRepository())) !== 0) throw new SetupError("The packages could not be packed; see above.");
  return Promise.all(PACKAGES.map(packedFile));
}

/** @param {string} name */
async function packedFile(name) {
  const { version } = JSON.parse(await readFile(inRepository(`packages/${name}/package.json`), "utf8"));
  return `${FOLDER}/${name}-${version}.tgz`;
}
