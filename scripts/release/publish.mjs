// Publishes what was tried. Imports nothing from other packages, and runs none of their code: the environment has the token of npm.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { inRepository } from "../setup/paths.mjs";
import { runProgram, SetupError } from "../setup/programs.mjs";
import { currentCommit, FOLDER, missingForRelease, PACKAGES, refuseIf } from "./readiness.mjs";
import { readRecord } from "./record.mjs";

/**
 * Publishes the packages that `npm run release -- --dry-run` has packed and tried, except those that the registry has already, so that a release that was
 * cut off can be repeated.
 *
 * @throws {SetupError} if something is missing for a release, or the files are not those that were tried
 */
export async function publish() {
  const { version } = JSON.parse(await readFile(inRepository("package.json"), "utf8"));
  const names = PACKAGES.map((name) => `${name}-${version}.tgz`);
  const { problems, digests } = await readRecord(inRepository(FOLDER), await currentCommit(), names);
  refuseIf("Nothing was published", [...(await missingForRelease(version)), ...problems]);
  const published = await Promise.all(PACKAGES.map((name) => publishedDigest(`${name}@${version}`)));
  refuseIf("Nothing was published", otherProblems(names, digests, published));
  for (const [index, name] of names.entries()) {
    if (published[index] !== undefined) process.stdout.write(`${name} is in the registry already.\n`);
    else await publishFile(inRepository(`${FOLDER}/${name}`), version);
  }
}

/**
 * Says which packages the registry has with another content, so that it could not be released with them.
 *
 * @param {readonly string[]} names of files
 * @param {Readonly<Record<string, string>>} digests of what was tried
 * @param {readonly (string | undefined)[]} published digests in the registry
 * @returns {string[]} a sentence for each
 */
export function otherProblems(names, digests, published) {
  return names
    .filter((name, index) => published[index] !== undefined && published[index] !== digests[name])
    .map((name) => `The registry has another ${name}: release a new version.`);
}

/**
 * The digest of a package in the registry; `undefined` if it has none.
 *
 * @param {string} spec
 * @throws {SetupError} if the registry does not say
 */
async function publishedDigest(spec) {
  try {
    const { stdout } = await promisify(execFile)("npm", ["view", spec, "dist.integrity"], { cwd: inRepository() });
    return stdout.trim() || undefined;
  } catch (error) {
    if (String(error).includes("E404")) return undefined;
    throw new SetupError(`The registry does not say whether it has ${spec}:\n${error}`);
  }
}

/** @param {string} tarball @param {string} version */
async function publishFile(tarball, version) {
  // Only continuous integration can prove where the package was built.
  const provenance = process.env["ACTIONS_ID_TOKEN_REQUEST_URL"] === undefined ? [] : ["--provenance"];
  const tag = version.includes("-") ? "next" : "latest";
  const args = ["publish", tarball, "--access", "public", "--tag", tag, "--ignore-scripts", ...provenance];
  if ((await runProgram("npm", args)) !== 0) throw new SetupError(`npm ${args.join(" ")} failed; see above.`);
}
