import { type Decoder, decode, list, symbol } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** A thread of the image. */
export interface ThreadInfo {
  /** Absent while a thread starts or ends if Swank uses the system's thread ids (since 2.30). */
  readonly id: number | undefined;
  readonly name: string;
  /** E.g. `Running`. */
  readonly status: string;
}

const { any, integer, map, nullable, string } = decode;

// SBCL 2.5 gives 0 instead of none.
const id = map(nullable(integer), (number) => number || undefined);

/** The first row holds the column names. More columns may follow the first three, which are always present. */
const threads: Decoder<readonly ThreadInfo[]> = decode.map(
  decode.tupleRest([any], decode.list(decode.record({ id, name: string, status: string }))),
  ([, rows]) => rows,
);

/**
 * `(swank:list-threads)`: the image's threads, without the one that lists them.
 *
 * Replaces, for all clients, the list whose positions `debug-nth-thread` and `kill-nth-thread` take.
 */
export const listThreads = lispFunction({
  name: "swank:list-threads",
  decode: threads,
});

/**
 * The same, without replacing the list on which an Emacs's thread browser acts by position: `k` there could end another thread.
 * (swank.lisp, `*thread-list*`)
 */
export const threadsOfImage = lispFunction({
  name: "cl:let",
  encode: () => [list(list(symbol("swank::*thread-list*"))), list(symbol("swank:list-threads"))],
  decode: threads,
  label: () => "swank:list-threads",
});
