import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { attempted } from "../base/attempted.js";
import { checkOptions } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { globFolders } from "./glob-folders.js";
import { INSTALL_SWANK } from "./install-hints.js";
import { type SwankPlace, swankPlaces } from "./swank-places.js";

/** Options for finding Swank. */
export interface FindSwankOptions {
  /** Swank's folder, or its `swank-loader.lisp`. Default: the environment variable `SWANK`, or the result of a search. */
  readonly swank?: string | undefined;
  /** Default: this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

const LOADER = "swank-loader.lisp";

/**
 * Finds Swank's source: in Quicklisp, ASDF's source folders, Emacs's packages and the system's folders, in that order.
 *
 * @returns the absolute path of the folder that has `swank-loader.lisp`
 * @throws SwankError `SWANK_NOT_FOUND`, with the places searched and a remedy. If a place is named, only that is searched.
 */
export async function findSwank(options: FindSwankOptions = {}): Promise<string> {
  checkOptions("findSwank", options, { swank: true, env: true });
  const { swank, env = process.env } = options;
  const named = swank ?? env["SWANK"];
  if (named) return namedFolder(named, swank === undefined ? ", which the environment variable SWANK names" : "");
  const places = swankPlaces(env);
  for (const place of places) {
    const folder = newestIn(place);
    if (folder !== undefined) return folder;
  }
  throw notFound(`No Swank was found. Looked in:\n${places.map(placeText).join("\n")}`);
}

function namedFolder(path: string, origin: string): string {
  const folder = resolve(basename(path) === LOADER ? dirname(path) : path);
  if (loaderTime(folder) !== undefined) return folder;
  throw notFound(`There is no ${LOADER} in ${folder}${origin}.`);
}

/** Compares by file time, because version numbers of packages have many formats. */
function newestIn(place: SwankPlace): string | undefined {
  const patterns = place.roots.flatMap((root) => place.names.map((name) => join(root, name)));
  const dated = patterns.flatMap(globFolders).map((folder) => ({ folder, time: loaderTime(folder) ?? -1 }));
  return dated.filter(({ time }) => time >= 0).sort((a, b) => b.time - a.time)[0]?.folder;
}

function loaderTime(folder: string): number | undefined {
  const file = attempted(() => statSync(join(folder, LOADER), { throwIfNoEntry: false }));
  return file?.isFile() ? file.mtimeMs : undefined;
}

function placeText({ name, roots }: SwankPlace): string {
  return `  ${name}: ${roots.length === 0 ? "names none" : roots.join(", ")}`;
}

function notFound(message: string): SwankError {
  return new SwankError("SWANK_NOT_FOUND", message, { remedy: INSTALL_SWANK });
}
