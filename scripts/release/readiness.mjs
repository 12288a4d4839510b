import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { inRepository } from "../setup/paths.mjs";
import { SetupError } from "../setup/programs.mjs";

/** The published packages, each after those that it requires. */
export const PACKAGES = ["sexp-parser", "swank-client", "swank-mcp"];

/** What is published, and notes for people. Not committed. */
export const FOLDER = "dist/release";

/** The file whose header describes the Emacs package. */
export const EMACS = "packages/swank-mcp/emacs/swank-mcp.el";

/**
 * @typedef {object} PackageJson
 * @property {string} version
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [peerDependencies]
 */

/**
 * Checks that every file states the version of the root package.json, and that packages require each other in it.
 *
 * @param {string} version of the root package.json
 * @param {Readonly<Record<string, PackageJson>>} packages by name
 * @param {Readonly<Record<string, string>>} others versions that other files state, by the name of the file
 * @returns {string[]} a sentence for each other version
 */
export function versionProblems(version, packages, others) {
  const stated = { ...others };
  for (const [name, { version: own, dependencies, peerDependencies }] of Object.entries(packages)) {
    stated[`packages/${name}/package.json`] = own;
    for (const [other, range] of Object.entries({ ...dependencies, ...peerDependencies }))
      if (other in packages) stated[`packages/${name}/package.json, ${other}`] = range.replace(/^\^/, "");
  }
  return Object.entries(stated)
    .filter(([, other]) => other !== version)
    .map(([where, other]) => `${where} has version ${other}, but package.json has ${version}.`);
}

/** Checks the versions of the repository's files. @param {string} version */
export async function checkVersions(version) {
  const json = async (/** @type {string} */ path) => JSON.parse(await readFile(inRepository(path), "utf8"));
  const packages = Object.fromEntries(
    await Promise.all(PACKAGES.map(async (name) => [name, await json(`packages/${name}/package.json`)])),
  );
  const { version: locked, packages: lockedPackages } = await json("package-lock.json");
  return versionProblems(version, packages, {
    "package-lock.json": locked,
    ...Object.fromEntries(
      PACKAGES.map((name) => [`package-lock.json, ${name}`, lockedPackages[`packages/${name}`].version]),
    ),
    [EMACS]: emacsHeader(await readFile(inRepository(EMACS), "utf8")).version,
  });
}

/**
 * Reads the header of an Emacs package.
 *
 * @param {string} text of its main file
 * @returns {{ summary: string, version: string, requires: string, url: string, keywords: string[] }}
 */
export function emacsHeader(text) {
  const [, summary = ""] = /^;;; \S+ --- (.*?)\s*(?:-\*-.*)?$/m.exec(text) ?? [];
  const field = (/** @type {string} */ name) => new RegExp(`^;; ${name}: (.*)$`, "m").exec(text)?.[1] ?? "";
  return {
    summary,
    version: field("Version"),
    requires: field("Package-Requires"),
    url: field("URL"),
    keywords: field("Keywords").split(/,\s*/),
  };
}

/**
 * Returns the text of a version's section of CHANGELOG.md; `undefined` if there is none, or if it is empty.
 *
 * @param {string} changelog
 * @param {string} version or `Unreleased`
 */
export function changesOf(changelog, version) {
  const [, ...sections] = `\n${changelog}`.split(/\n## \[/);
  const section = sections.find((text) => text.startsWith(`${version}]`));
  return section?.slice(section.indexOf("\n")).trim() || undefined;
}

/**
 * Returns what a release lacks besides the code.
 *
 * @param {{ version: string, changelog: string, tags: readonly string[], changed: readonly string[], environment: NodeJS.ProcessEnv }} state tags of the
 *   commit, changed files, and the environment
 * @returns {string[]} a sentence for each thing
 */
export function missingFor({ version, changelog, tags, changed, environment }) {
  return [
    changesOf(changelog, version) === undefined &&
      `CHANGELOG.md has no section [${version}]: rename [Unreleased] to it, with the date, and begin a new one.`,
    !tags.includes(`v${version}`) && `The commit has no tag v${version}.`,
    changed.length > 0 && `Files are not committed: ${changed.join(", ")}.`,
    !environment["NODE_AUTH_TOKEN"] && "NODE_AUTH_TOKEN has no token of the npm registry.",
  ].filter((sentence) => sentence !== false);
}

/** @param {string[]} args @returns {Promise<string[]>} the lines that git prints */
async function git(...args) {
  const { stdout } = await promisify(execFile)("git", args, { cwd: inRepository() });
  return stdout.split("\n").filter((line) => line !== "");
}

/** Files that are not committed. */
export async function changedFiles() {
  return (await git("status", "--porcelain")).map((line) => line.slice(3));
}

/** The id of the commit that is checked out. */
export async function currentCommit() {
  return (await git("rev-parse", "HEAD")).join("");
}

/** Returns what a release of the repository lacks. @param {string} version */
export async function missingForRelease(version) {
  return missingFor({
    version,
    changelog: await readFile(inRepository("CHANGELOG.md"), "utf8"),
    tags: await git("tag", "--points-at", "HEAD"),
    changed: await changedFiles(),
    environment: process.env,
  });
}

/** @param {string} what @param {readonly string[]} problems @throws {SetupError} if there are any */
export function refuseIf(what, problems) {
  if (problems.length > 0) throw new SetupError([`${what}:`, ...problems].join("\n  "));
}
