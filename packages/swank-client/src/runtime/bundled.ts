import type { ModuleName } from "./function.js";

// A program that bundles this package replaces this module by one that names its own copy of the Lisp systems, and has the index of that.

/** The folder of the Lisp systems. */
export const LISP_FOLDER = new URL("../../lisp/", import.meta.url);

/** What clients need to know of the modules before they load any. */
export interface RuntimeIndex {
  /** A hash of the texts of all modules. */
  readonly version: string;
  readonly dependencies: Readonly<Partial<Record<ModuleName, readonly ModuleName[]>>>;
}

/** What is known of the modules without reading their files, so that a bundled program starts an image from a core without these. */
export const BUILT_INDEX: RuntimeIndex | undefined = undefined;
