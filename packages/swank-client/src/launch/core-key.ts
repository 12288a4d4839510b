import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempted } from "../base/attempted.js";
import { fileStamp } from "./file-stamp.js";
import { LAUNCH_FILES } from "./lisp-forms.js";
import type { LispInstallation } from "./lisp-installation.js";

/** Change this when cores are built in a different way that the rest of the key does not include. */
const FORMAT = 1;

/** Lisp texts to load after Swank. */
export interface CoreRuntime {
  /** Identifies them. */
  readonly id: string | readonly string[];
  /** Read only to build a core. */
  readonly sources: readonly string[];
}

/** What Swank is loaded from. */
export interface SwankIngredients {
  readonly lisp: LispInstallation;
  readonly swankFolder: string;
}

/** The ingredients of a core. */
export interface CoreIngredients extends SwankIngredients {
  readonly runtime: CoreRuntime;
  readonly warmUp: readonly string[];
}

/** The key of a core. Another SBCL, another Swank or another version of this package gives another key. */
export function coreKey({ runtime, warmUp, ...swank }: CoreIngredients): string {
  return keyOf([...swankIngredients(swank), runtime.id, warmUp]);
}

/** The key of a compiled Swank, which has all that its files depend on: the Lisp, its core, Swank's sources, and our code that loads them. */
export function swankKey(ingredients: SwankIngredients): string {
  return keyOf(swankIngredients(ingredients));
}

function swankIngredients({ lisp, swankFolder }: SwankIngredients): readonly unknown[] {
  const stamps = [lisp.runtime, lisp.core ?? lisp.runtime, ...swankFiles(swankFolder)].map(fileStamp);
  const texts = LAUNCH_FILES.map((file) => readFileSync(file, "utf8"));
  return [FORMAT, lisp.version, lisp.home, stamps, texts];
}

function keyOf(ingredients: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(ingredients)).digest("hex").slice(0, 24);
}

function swankFiles(folder: string): readonly string[] {
  const folders = [folder, join(folder, "swank"), join(folder, "contrib")];
  // Old versions of Swank read their number from slime.el, newer ones from slime-version.
  return [...folders.flatMap(lispFilesIn), join(folder, "slime-version"), join(folder, "slime.el")];
}

function lispFilesIn(folder: string): readonly string[] {
  const names = attempted(() => readdirSync(folder)) ?? [];
  return names
    .filter((name) => name.endsWith(".lisp"))
    .sort()
    .map((name) => join(folder, name));
}
