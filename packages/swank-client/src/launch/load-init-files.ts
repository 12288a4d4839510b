import { resolve } from "node:path";
import { decode, list, NIL, quote, symbol, T } from "sexp-parser";
import { checkOptions } from "../check-options.js";
import type { Command } from "../commands/command.js";
import { keywordOf } from "../runtime/keyword-of.js";

/** Which files of the user's to load. */
export interface InitFiles {
  /** `true`: without the init files that `sbcl` loads, the system's and `~/.sbclrc`. */
  readonly noUserInit?: boolean | undefined;
  /** Files to load after them, relative to this process's working folder. */
  readonly load?: readonly string[] | undefined;
}

const STATUSES = ["loaded", "missing", "failed"] as const;

export type LoadedStatus = (typeof STATUSES)[number];

/** How the loading of a file went. */
export interface LoadedFile {
  readonly path: string;
  /** `missing`: there is no such file. */
  readonly status: LoadedStatus;
  /** What it printed on stdout and stderr; after an error in source it ends with the place of the form. The last 10000 characters. */
  readonly output: string;
  /** Why it was not loaded to its end, with the condition's type; `undefined` when it was. */
  readonly error: string | undefined;
}

const { list: listOf, map, nullable, string, tuple } = decode;

const loadedFile = map(
  tuple(string, keywordOf(STATUSES), nullable(string), string),
  ([path, status, error, output]): LoadedFile => ({ path, status, output, error }),
);

/**
 * Loads the user's files into an image that `launchImage` has started. An error in one of them ends the loading of that file only.
 *
 * It lasts as long as the files take, and they can do anything.
 */
export const loadInitFiles = {
  name: "swank-client.launch:load-init-files",
  encode: (files: InitFiles) => {
    checkOptions("loadInitFiles", files, { noUserInit: true, load: true });
    const { noUserInit = false, load = [] } = files;
    const wanted = noUserInit ? NIL : T;
    return list(
      symbol("swank-client.launch:load-init-files"),
      wanted,
      wanted,
      quote(load.map((file) => resolve(file))),
    );
  },
  decode: listOf(loadedFile),
} satisfies Command<[files: InitFiles], readonly LoadedFile[]>;
