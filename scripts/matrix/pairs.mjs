import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isOnPath, runProgram, SetupError } from "../setup/programs.mjs";

const SLIME_SOURCE = "https://github.com/slime/slime.git";

/** The folder of SLIME's newest source, beside those of Debian's releases. */
const SLIME = "slime";

/** @typedef {{ name: string, debian: string, isNewest?: boolean }} Pair Debian's SBCL with its Swank or, if `isNewest`, with SLIME's newest source */

/** @type {readonly Pair[]} */
export const PAIRS = [
  { name: "bookworm", debian: "bookworm" },
  { name: "trixie", debian: "trixie" },
  { name: "sid", debian: "sid" },
  { name: "bookworm-slime", debian: "bookworm", isNewest: true },
  { name: "sid-slime", debian: "sid", isNewest: true },
];

/**
 * Returns the environment variables that choose a pair for the tests.
 *
 * @param {Pair} pair
 * @param {string} lisps folder with a folder for each release of Debian
 */
export function pairEnvironment({ debian, isNewest = false }, lisps) {
  const root = join(lisps, debian);
  return {
    SBCL: join(root, "usr/bin/sbcl"),
    SWANK: isNewest ? join(lisps, SLIME) : join(root, "usr/share/common-lisp/source/slime"),
  };
}

/**
 * Returns the versions of an SBCL, such as `2.5.2.debian`, and of a Swank, such as `2.30`. Debian's packages have that of Swank in a file of its
 * own, SLIME's source in slime.el.
 *
 * @param {{ SBCL: string, SWANK: string }} pair
 */
export async function versionsOf({ SBCL, SWANK }) {
  const { stdout } = await promisify(execFile)(SBCL, ["--version"]);
  const own = await readFile(join(SWANK, "slime-version"), "utf8").catch(() => undefined);
  const header = own ?? (await readFile(join(SWANK, "slime.el"), "utf8"));
  const swank = own?.replaceAll('"', "").trim() ?? /^;; Version: *(\S+)/m.exec(header)?.[1] ?? "unknown";
  return { sbcl: stdout.replace(/^SBCL /, "").trim(), swank };
}

/** What decides whether this machine can unpack a pair. */
const MACHINE = {
  platform: `${process.platform}-${process.arch}`,
  uid: process.getuid?.(),
  hasProgram: (/** @type {string} */ program) => isOnPath(program),
};

/**
 * Unpacks the programs of a pair that are not there yet, without installing them.
 *
 * @param {Pair} pair
 * @param {string} lisps
 * @param {typeof MACHINE} [machine]
 * @throws {SetupError} with the commands that do it, if this user cannot
 */
export async function providePair({ debian, isNewest = false }, lisps, machine = MACHINE) {
  await mkdir(lisps, { recursive: true });
  const folder = join(lisps, debian);
  if (!existsSync(join(folder, "usr/bin/sbcl"))) await unpackDebian(debian, folder, machine);
  if (isNewest) await updateSlime(join(lisps, SLIME));
}

/**
 * Unpacks a release's SBCL and Swank, and makes its SBCL use the C library of that release.
 *
 * @param {string} release
 * @param {string} folder
 * @param {typeof MACHINE} machine
 */
async function unpackDebian(release, folder, { platform, uid, hasProgram }) {
  if (platform !== "linux-x64") throw new SetupError("Debian's pairs run only on Linux on x86-64.");
  // A half unpacked folder would count as a pair.
  const draft = `${folder}.draft`;
  const loader = ["--set-interpreter", join(folder, "lib64/ld-linux-x86-64.so.2")];
  const libraries = ["--set-rpath", join(folder, "usr/lib/x86_64-linux-gnu")];
  const commands = [
    ["debootstrap", "--variant=minbase", "--include=sbcl,cl-swank", release, draft],
    ["patchelf", ...loader, ...libraries, join(draft, "usr/bin/sbcl")],
  ];
  const missing = ["debootstrap", "patchelf"].filter((program) => !hasProgram(program));
  if (uid !== 0 || missing.length > 0) {
    const install = missing.length > 0 ? [["apt-get", "install", "-y", ...missing]] : [];
    const lines = [...install, ...commands, ["mv", draft, folder]].map((command) => `  ${command.join(" ")}`);
    throw new SetupError(
      [`The SBCL and Swank of Debian's ${release} are not in ${folder}. As root, run:`, ...lines].join("\n"),
    );
  }
  await rm(draft, { recursive: true, force: true });
  for (const command of commands) await runOrFail(command);
  await rename(draft, folder);
}

/** @param {string} folder */
async function updateSlime(folder) {
  if (!existsSync(join(folder, "swank-loader.lisp"))) {
    await runOrFail(["git", "clone", "--quiet", "--depth=1", SLIME_SOURCE, folder]);
    return;
  }
  const code = await runProgram("git", ["pull", "--quiet", "--ff-only"], { cwd: folder });
  if (code !== 0) process.stderr.write(`SLIME in ${folder} could not be updated, and is used as it is.\n`);
}

/** @param {readonly string[]} command */
async function runOrFail([program = "", ...args]) {
  const code = await runProgram(program, args);
  if (code !== 0) throw new SetupError(`\`${[program, ...args].join(" ")}\` failed with exit code ${code}.`);
}
