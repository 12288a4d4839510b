import { type Decoder, decode } from "sexp-parser";

const { integer, list, map, nullable, string, tuple } = decode;

/** Definitions that the forms of an evaluation, or one file, replaced. */
export interface RedefinedIn {
  /** The file that was loaded, relative to the image's directory; `undefined` for the evaluation's own forms. */
  readonly file: string | undefined;
  readonly count: number;
  /** The first 50 different names, e.g. `AVERAGE` or `(METHOD PROCESS :AROUND (STAGE))`. */
  readonly names: readonly string[];
}

/** A redefined macro or inline function, and the functions that were compiled with the old definition and still exist. */
export interface StaleUse {
  readonly name: string;
  readonly count: number;
  /** The first 50, in alphabetical order. */
  readonly users: readonly string[];
}

/** What an evaluation redefined. */
export interface Redefinitions {
  /** All redefinitions, including those that `files` does not count: it has the first 2,000. */
  readonly count: number;
  readonly files: readonly RedefinedIn[];
  readonly stale: readonly StaleUse[];
}

/** Of an evaluation that redefined nothing. */
export const NO_REDEFINITIONS: Redefinitions = { count: 0, files: [], stale: [] };

/** `(FILE COUNT (NAME ...))` (lisp/evaluate/redefinitions.lisp) */
export const redefinedIn: Decoder<RedefinedIn> = map(
  tuple(nullable(string), integer, list(string)),
  ([file, count, names]) => ({ file, count, names }),
);

/** `(NAME COUNT (USER ...))` */
export const staleUse: Decoder<StaleUse> = map(tuple(string, integer, list(string)), ([name, count, users]) => ({
  name,
  count,
  users,
}));
