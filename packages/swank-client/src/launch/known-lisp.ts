import { createHash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileStamp } from "./file-stamp.js";
import { decodeDescription, describeLisp, type FindLispOptions, findLispExecutable } from "./find-lisp.js";
import type { LispInstallation } from "./lisp-installation.js";
import { makeFolder } from "./make-folder.js";

/**
 * The same as `findLisp`, but remembers what each executable said of itself until it changes.
 *
 * @param cacheFolder - Where to remember it; `undefined`: nowhere.
 * @throws SwankError as `findLisp` does
 */
export async function knownLisp(cacheFolder: string | undefined, options: FindLispOptions): Promise<LispInstallation> {
  const executable = await findLispExecutable(options);
  if (cacheFolder === undefined) return decodeDescription(executable, await describeLisp(executable, options));
  const file = join(cacheFolder, "lisp", await descriptionName(executable, options.env ?? process.env));
  return (await remembered(executable, file)) ?? remember(executable, file, await describeLisp(executable, options));
}

async function descriptionName(executable: string, env: Readonly<Record<string, string | undefined>>): Promise<string> {
  // The variables decide which core and which modules an SBCL takes.
  const parts = [await fileStamp(executable), env["SBCL_HOME"], env["SBCL_CORE"]];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 24);
}

/** An executable may be a script, which stays the same when what it starts is gone. */
async function remembered(executable: string, file: string): Promise<LispInstallation | undefined> {
  try {
    const lisp = decodeDescription(executable, await readFile(file, "utf8"));
    const stamps = await Promise.all([lisp.runtime, lisp.core ?? lisp.runtime].map(fileStamp));
    return stamps.includes(undefined) ? undefined : lisp;
  } catch {
    return undefined;
  }
}

async function remember(executable: string, file: string, output: string): Promise<LispInstallation> {
  const lisp = decodeDescription(executable, output);
  const draft = `${file}.${process.pid}`;
  try {
    await makeFolder(dirname(file));
    await writeFile(draft, output);
    await rename(draft, file);
  } catch {
    // It will be asked again, which costs a start of SBCL and nothing else.
  }
  return lisp;
}
