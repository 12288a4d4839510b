import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileStamp } from "./file-stamp.js";
import { LAUNCH_FILES } from "./lisp-forms.js";
import type { LispInstallation } from "./lisp-installation.js";

/** Change this when cores are built in a different way that the rest of the key does not include. */
const FORMAT = 1;

/** The ingredients of a core. */
export interface CoreIngredients {
  readonly lisp: LispInstallation;
  readonly swankFolder: string;
  readonly runtimeSources: readonly string[];
  readonly warmUp: readonly string[];
}

/** The key of a core. Another SBCL, another Swank or another version of this package gives another key. */
export async function coreKey({ lisp, swankFolder, runtimeSources, warmUp }: CoreIngredients): Promise<string> {
  const stamps = await Promise.all(
    [lisp.runtime, lisp.core ?? lisp.runtime, ...(await swankFiles(swankFolder))].map(fileStamp),
  );
  const texts = await Promise.all(LAUNCH_FILES.map((file) => readFile(file, "utf8")));
  const all = JSON.stringify([FORMAT, lisp.version, lisp.home, stamps, texts, runtimeSources, warmUp]);
  return createHash("sha256").update(all).digest("hex").slice(0, 24);
}

async function swankFiles(folder: string): Promise<readonly string[]> {
  const folders = [folder, join(folder, "swank"), join(folder, "contrib")];
  const lists = await Promise.all(folders.map(lispFilesIn));
  // Old versions of Swank read their number from slime.el, newer ones from slime-version.
  return [...lists.flat(), join(folder, "slime-version"), join(folder, "slime.el")];
}

async function lispFilesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names
    .filter((name) => name.endsWith(".lisp"))
    .sort()
    .map((name) => join(folder, name));
}
