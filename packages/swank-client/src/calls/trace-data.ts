import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { RUN_ENDS } from "./profile-data.js";

/** `open`: it has not ended. `returned`: it returned. `left`: it was left without a value, by a `throw` or a handler. */
export const CALL_EXITS = ["open", "returned", "left"] as const;

/** A call, or several calls of one function that are folded. */
export interface RecordedCall {
  readonly kind: "call";
  /** The number of recorded calls that it is inside of. Those that it made follow it, one level deeper. */
  readonly depth: number;
  /** The function and its arguments, cut; of folded calls with different arguments, `(NAME ...)`. */
  readonly text: string;
  /** The values, cut; absent if there are none, or if they differ. */
  readonly values: string | undefined;
  readonly exit: (typeof CALL_EXITS)[number];
  readonly count: number;
  /** Those of the calls that were left without a value. */
  readonly left: number;
  /** Microseconds of all calls together, with what they called. */
  readonly total: number;
  /** The same without the recorded calls in them. */
  readonly self: number;
}

/** Conditions that were signalled in a call. */
export interface RecordedCondition {
  readonly kind: "condition";
  readonly depth: number;
  readonly type: string;
  /** The report of the first one, if it could be printed later. */
  readonly message: string | undefined;
  /** The type in the clause of the handler that took them; absent if none did. */
  readonly clause: string | undefined;
  /** The function that the clause is in. */
  readonly handler: string | undefined;
  readonly count: number;
}

/** The calls of one thread, each before what it called. */
export interface RecordedThread {
  readonly name: string;
  /** Swank's id. */
  readonly id: number;
  /** True for the thread that ran the code. */
  readonly isOwn: boolean;
  readonly rows: readonly (RecordedCall | RecordedCondition)[];
  /** Number of rows that were left out. */
  readonly omitted: number;
}

/** The calls of traced functions. */
export interface Trace {
  readonly end: (typeof RUN_ENDS)[number];
  readonly calls: number;
  /** Number of calls after which the trace ends. */
  readonly limit: number;
  /** Microseconds for which it was on. */
  readonly duration: number;
  /** Microseconds that recording has taken in the threads that made the calls. */
  readonly looking: number;
  /** Microseconds that switching it on and off has taken. */
  readonly switching: number;
  /** The error in the condition that ended it. */
  readonly failure: string | undefined;
  /** The first values of the code, printed. */
  readonly values: readonly string[];
  readonly threads: readonly RecordedThread[];
}

const { boolean, integer, list, map, nullable, plist, string, tagged, tuple } = decode;

const call = map(
  tuple(integer, string, nullable(string), keywordOf(CALL_EXITS), integer, integer, integer, integer),
  ([depth, text, values, exit, count, left, total, self]): RecordedCall | RecordedCondition => ({
    kind: "call",
    depth,
    text,
    values,
    exit,
    count,
    left,
    total,
    self,
  }),
);

const condition = map(
  tuple(integer, string, nullable(string), nullable(string), nullable(string), integer),
  ([depth, type, message, clause, handler, count]): RecordedCall | RecordedCondition => ({
    kind: "condition",
    depth,
    type,
    message,
    clause,
    handler,
    count,
  }),
);

const thread: Decoder<RecordedThread> = map(
  plist({ thread: string, id: integer, own: boolean, rows: list(tagged({ call, condition })), left: integer }),
  ({ thread: name, id, own: isOwn, rows, left: omitted }) => ({ name, id, isOwn, rows, omitted }),
);

/** Decodes the plist of `trace-facts` (lisp/trace/reply.lisp). */
export const traceData: Decoder<Trace> = map(
  plist({
    end: keywordOf(RUN_ENDS),
    calls: integer,
    limit: integer,
    microseconds: integer,
    looking: integer,
    switching: integer,
    failure: nullable(string),
    values: list(string),
    threads: list(thread),
  }),
  ({ microseconds, ...facts }) => ({ duration: microseconds, ...facts }),
);
