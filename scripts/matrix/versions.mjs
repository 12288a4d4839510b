import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/**
 * Returns the version of an sbcl program, such as `2.5.2.debian`.
 *
 * @param {string} program
 */
export async function sbclVersion(program) {
  const { stdout } = await promisify(execFile)(program, ["--version"]);
  return stdout.replace(/^SBCL /, "").trim();
}

/**
 * Returns the version of a Swank folder, such as `2.30`: Debian's packages have it in a file of its own, SLIME's source in slime.el.
 *
 * @param {string} folder
 */
export async function swankVersion(folder) {
  const own = await readFile(join(folder, "slime-version"), "utf8").catch(() => undefined);
  if (own !== undefined) return own.replaceAll('"', "").trim();
  return /^;; Version: *(?<version>\S+)/m.exec(await readFile(join(folder, "slime.el"), "utf8"))?.[1] ?? "unknown";
}
