import { constants } from "node:fs";
import { access, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isOnPath } from "../setup/on-path.mjs";
import { runProgram } from "../setup/run-program.mjs";
import { SetupError } from "../setup/setup-error.mjs";
import { SLIME } from "./pairs.mjs";

const SLIME_SOURCE = "https://github.com/slime/slime.git";

/** @typedef {{ platform: string, uid: number | undefined, hasProgram: (program: string) => boolean }} Machine */

/** @returns {Machine} */
function thisMachine() {
  return {
    platform: `${process.platform}-${process.arch}`,
    uid: process.getuid?.(),
    hasProgram: (program) => isOnPath(program),
  };
}

/**
 * Unpacks the programs of a pair that are not there yet, without installing them.
 *
 * @param {import("./pairs.mjs").Pair} pair
 * @param {string} lisps
 * @param {Machine} [machine]
 * @throws {SetupError} with the commands that do it, if this user cannot
 */
export async function providePair({ debian, isNewest = false }, lisps, machine = thisMachine()) {
  await mkdir(lisps, { recursive: true });
  const folder = join(lisps, debian);
  if (!(await isThere(join(folder, "usr/bin/sbcl")))) await unpackDebian(debian, folder, machine);
  if (isNewest) await updateSlime(join(lisps, SLIME));
}

/**
 * @param {string} release
 * @param {string} folder
 * @param {Machine} machine
 */
async function unpackDebian(release, folder, { platform, uid, hasProgram }) {
  if (platform !== "linux-x64") throw new SetupError("Debian's pairs run only on Linux on x86-64.");
  const missing = ["debootstrap", "patchelf"].filter((program) => !hasProgram(program));
  // A half unpacked folder would count as a pair.
  const draft = `${folder}.draft`;
  if (uid !== 0 || missing.length > 0) throw new SetupError(instructions(release, folder, draft, missing));
  await rm(draft, { recursive: true, force: true });
  for (const command of debianCommands(release, folder, draft)) await runOrFail(command);
  await rename(draft, folder);
}

/**
 * Returns the commands that unpack a release's SBCL and Swank, and make its SBCL use the C library of that release.
 *
 * @param {string} release
 * @param {string} folder where the result will be
 * @param {string} draft where it is made
 * @returns {string[][]}
 */
function debianCommands(release, folder, draft) {
  const loader = ["--set-interpreter", join(folder, "lib64/ld-linux-x86-64.so.2")];
  const libraries = ["--set-rpath", join(folder, "usr/lib/x86_64-linux-gnu")];
  return [
    ["debootstrap", "--variant=minbase", "--include=sbcl,cl-swank", release, draft],
    ["patchelf", ...loader, ...libraries, join(draft, "usr/bin/sbcl")],
  ];
}

/**
 * @param {string} release
 * @param {string} folder
 * @param {string} draft
 * @param {readonly string[]} missing
 */
function instructions(release, folder, draft, missing) {
  const install = missing.length > 0 ? [["apt-get", "install", "-y", ...missing]] : [];
  const commands = [...install, ...debianCommands(release, folder, draft), ["mv", draft, folder]];
  return [
    `The SBCL and Swank of Debian's ${release} are not in ${folder}. As root, run:`,
    ...commands.map((command) => `  ${command.join(" ")}`),
  ].join("\n");
}

/** @param {string} folder */
async function updateSlime(folder) {
  const git = join(folder, ".git");
  if (!(await isThere(join(folder, "swank-loader.lisp")))) {
    await runOrFail(["git", "clone", "--quiet", "--depth=1", SLIME_SOURCE, folder]);
  } else if (
    (await runProgram("git", ["--git-dir", git, "--work-tree", folder, "pull", "--quiet", "--ff-only"])) !== 0
  ) {
    process.stderr.write(`SLIME in ${folder} could not be updated, and is used as it is.\n`);
  }
}

/** @param {readonly string[]} command */
async function runOrFail([program = "", ...args]) {
  const code = await runProgram(program, args);
  if (code !== 0) throw new SetupError(`\`${[program, ...args].join(" ")}\` failed with exit code ${code}.`);
}

/** @param {string} file */
function isThere(file) {
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}
