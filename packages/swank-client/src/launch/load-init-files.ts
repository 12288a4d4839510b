import { resolve } from "node:path";
import { decode, NIL, quote, T } from "sexp-parser";
import { checkOptions } from "../base/check-arguments.js";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";

/** Options for loading the user's files. */
export interface InitFiles {
  /** `true`: do not load the init files that `sbcl` loads, the system's and `~/.sbclrc`. */
  readonly noUserInit?: boolean | undefined;
  /** Files to load after them, relative to this process's working folder. */
  readonly load?: readonly string[] | undefined;
}

const STATUSES = ["loaded", "missing", "failed"] as const;

/** `loaded` completely, `missing` (no such file), or `failed` with an error. */
export type LoadedStatus = (typeof STATUSES)[number];

/** The result of loading a file. */
export interface LoadedFile {
  readonly path: string;
  /** `missing`: there is no such file. */
  readonly status: LoadedStatus;
  /** Its output on stdout and stderr, the last 10000 characters. After an error in source it ends with the position of the form. */
  readonly output: string;
  /** Why it was not loaded completely, with the condition's type; `undefined` if it was. */
  readonly error: string | undefined;
}

const { list: listOf, map, nullable, string, tuple } = decode;

const loadedFile = map(
  tuple(string, keywordOf(STATUSES), nullable(string), string),
  ([path, status, error, output]): LoadedFile => ({ path, status, output, error }),
);

/** The init files that `sbcl` would load, the system's and the user's, if they exist. */
export const defaultInitFiles = lispFunction({
  name: "swank-client/launch:default-init-files",
  encode: () => [T, T],
  decode: listOf(string),
});

/** Does for one file, an absolute path, what `loadInitFiles` does for all, so that the caller knows which file is being loaded. */
export const loadInitFile = lispFunction({
  name: "swank-client/launch:load-init-file",
  encode: (path: string) => [path],
  decode: loadedFile,
});

/**
 * Loads the user's files into an image that `launchImage` started. An error ends the loading of its file only.
 *
 * There is no time limit, and the files can do anything.
 */
export const loadInitFiles = lispFunction({
  name: "swank-client/launch:load-init-files",
  encode: (files: InitFiles) => {
    checkOptions("loadInitFiles", files, { noUserInit: true, load: true });
    const { noUserInit = false, load = [] } = files;
    const wanted = noUserInit ? NIL : T;
    return [wanted, wanted, quote(load.map((file) => resolve(file)))];
  },
  decode: listOf(loadedFile),
});
