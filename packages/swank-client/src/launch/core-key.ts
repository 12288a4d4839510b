import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileStamp } from "./file-stamp.js";
import { LAUNCH_FILES } from "./lisp-forms.js";
import type { LispInstallation } from "./lisp-installation.js";

/** To be changed when cores are made in another way that the rest of the key does not tell. */
const FORMAT = 1;

/** What a core is made from. */
export interface CoreIngredients {
  readonly lisp: LispInstallation;
  readonly swankFolder: string;
  readonly runtimeSources: readonly string[];
  readonly warmUp: readonly string[];
}

/** Names a core by what went into it: another SBCL, another Swank or another version of this package gives another name. */
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
  // Old versions read their number from the one, newer ones from the other.
  return [...lists.flat(), join(folder, "slime-version"), join(folder, "slime.el")];
}

async function lispFilesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names
    .filter((name) => name.endsWith(".lisp"))
    .sort()
    .map((name) => join(folder, name));
}
