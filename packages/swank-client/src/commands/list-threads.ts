import { type Decoder, decode, list, symbol } from "sexp-parser";
import type { Command } from "./command.js";

/** A thread of the image. */
export interface ThreadInfo {
  /** Absent for a moment while a thread begins or ends, where Swank numbers threads as the system does (from 2.30 on). */
  readonly id: number | undefined;
  readonly name: string;
  /** E.g. `Running`. */
  readonly status: string;
}

const { any, integer, map, nullable, string } = decode;

const id = map(nullable(integer), (number) => number ?? undefined);

/** The first row holds the names of the columns; more may follow the three that are always there. */
const threads: Decoder<readonly ThreadInfo[]> = decode.map(
  decode.tupleRest([any], decode.list(decode.record({ id, name: string, status: string }))),
  ([, rows]) => rows,
);

/**
 * `(swank:list-threads)`: the image's threads, without the one that lists them.
 *
 * Replaces the list that `debug-nth-thread` and `kill-nth-thread` count in, for all clients.
 */
export const listThreads = {
  name: "swank:list-threads",
  encode: () => list(symbol("swank:list-threads")),
  decode: threads,
} satisfies Command<[], readonly ThreadInfo[]>;
