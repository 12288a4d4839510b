import { createHash } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { removeQuietly } from "../cache/drafts.js";
import { readOwnFile } from "../cache/own-file.js";
import { ownSubfolder } from "../cache/own-folder.js";
import { fileStamp } from "./file-stamp.js";
import { decodeDescription, describeLisp, type FindLispOptions, findLispExecutable } from "./find-lisp.js";
import type { LispInstallation } from "./lisp-installation.js";

/**
 * Does what `findLisp` does, and caches the description of each executable until that changes.
 *
 * @param cacheFolder - The folder for the cache; `undefined` for none.
 * @throws SwankError as `findLisp` does
 */
export async function knownLisp(cacheFolder: string | undefined, options: FindLispOptions): Promise<LispInstallation> {
  const executable = await findLispExecutable(options);
  const folder = cacheFolder === undefined ? undefined : await ownSubfolder(cacheFolder, "lisp");
  if (folder === undefined) return decodeDescription(executable, await describeLisp(executable, options));
  const file = join(folder, descriptionName(executable, options.env ?? process.env));
  return (await remembered(executable, file)) ?? remember(executable, file, await describeLisp(executable, options));
}

function descriptionName(executable: string, env: Readonly<Record<string, string | undefined>>): string {
  // These variables decide which core and modules an SBCL uses.
  const parts = [fileStamp(executable), env["SBCL_HOME"], env["SBCL_CORE"]];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 24);
}

/** Checks the program that runs: the executable may be a script, which does not change when that program is removed. */
async function remembered(executable: string, file: string): Promise<LispInstallation | undefined> {
  try {
    // The file names a program to run, so it is ignored if another user may have written it.
    const lisp = decodeDescription(executable, (await readOwnFile(file)) ?? "");
    const stamps = [lisp.runtime, lisp.core ?? lisp.runtime].map(fileStamp);
    return stamps.includes(undefined) ? undefined : lisp;
  } catch {
    return undefined;
  }
}

async function remember(executable: string, file: string, output: string): Promise<LispInstallation> {
  const lisp = decodeDescription(executable, output);
  const draft = `${file}.${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
  try {
    await writeFile(draft, output, { mode: 0o600, flag: "wx" });
    await rename(draft, file);
  } catch {
    // SBCL is asked again next time, which only costs starting it.
    await removeQuietly(draft);
  }
  return lisp;
}
