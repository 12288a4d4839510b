import { type Decoded, decode, list as listForm, symbol } from "sexp-parser";
import { lispFunction } from "../runtime/function.js";

const { any, integer, list, map, nullable, record, string, tupleRest } = decode;

const threadInfo = record({
  /** Absent while a thread starts or ends if Swank uses the system's thread ids (since 2.30). SBCL 2.5 gives 0 instead of none. */
  id: map(nullable(integer), (number) => number || undefined),
  name: string,
  /** E.g. `Running`. */
  status: string,
});

/** A thread of the image. */
export interface ThreadInfo extends Decoded<typeof threadInfo> {}

/** The first row holds the column names. More columns may follow the first three, which are always present. */
const threads = map(tupleRest([any], list<ThreadInfo>(threadInfo)), ([, rows]) => rows);

/**
 * `(swank:list-threads)`: the image's threads, without the one that lists them. Replaces, for all clients, the list whose positions
 * `debug-nth-thread` and `kill-nth-thread` take.
 */
export const listThreads = lispFunction({ name: "swank:list-threads", decode: threads });

/**
 * The same, without replacing the list on which an Emacs's thread browser acts by position: `k` there could end another thread.
 * (swank.lisp, `*thread-list*`)
 */
export const threadsOfImage = lispFunction({
  name: "cl:let",
  encode: () => [listForm(listForm(symbol("swank::*thread-list*"))), listForm(symbol("swank:list-threads"))],
  decode: threads,
  label: () => "swank:list-threads",
});
