import type { ModuleName } from "./function.js";

/** What clients need to know of the modules before they load any. */
export interface RuntimeIndex {
  /** A hash of the texts of all modules. */
  readonly version: string;
  readonly dependencies: Readonly<Partial<Record<ModuleName, readonly ModuleName[]>>>;
}

/**
 * What is known of the modules without reading their files. A program that bundles this package replaces this module by one that has the index
 * of its copy, so that it starts an image from a core without reading 140 files.
 */
export const BUILT_INDEX: RuntimeIndex | undefined = undefined;
