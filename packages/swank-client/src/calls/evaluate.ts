import { type Decoder, decode, keyword, NIL, type Sexp, T } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";
import type { IdleBreakpoint } from "./breakpoint.js";
import type { ErrorSnapshot } from "./condition.js";
import { errorSnapshot, type SessionUpdate, sessionUpdate } from "./stop-data.js";

/** Arguments of `evaluate`. */
export interface EvaluateCall {
  readonly code: string;
  /** The client chooses it before the call, so that it can attribute output and stops to the evaluation. */
  readonly id: number;
  readonly package: string | undefined;
  readonly stdin: string | undefined;
  /** Read all forms before evaluating any, because a scan found the code unbalanced. */
  readonly check: boolean;
  /** End with the first error instead of stopping at it. */
  readonly unwind: boolean;
  /** Compile for debugging. */
  readonly debug: boolean;
  /** Characters of each stream to send; of the text after them only the last `tail` are sent. */
  readonly limit: number;
  readonly tail: number;
  /** Characters of each value to send. Default: the runtime's limit. */
  readonly valueLimit?: number | undefined;
  /** Elements and levels of each list or vector to send. Default: the runtime's. */
  readonly printLength?: number | undefined;
  readonly printLevel?: number | undefined;
  /** Ask the client for standard input after `stdin`. Default: the input ends there. */
  readonly prompted?: boolean;
  /** Log conditions: all, or those of a type. */
  readonly conditions?: boolean | string | undefined;
  /** Print the values whole, for a program. Default: for people. */
  readonly data?: boolean;
  /** Keep the values, and send their ids instead. */
  readonly ids?: boolean;
}

/** Where reading the source code failed, and how much of it ran before. */
export interface ReadFailure {
  /** Characters read up to the error; `undefined` when the error did not come from the reader. */
  readonly offset: number | undefined;
  /** Number of forms evaluated before the failure. */
  readonly evaluated: number;
  /** Names that were probably meant, as a sentence. */
  readonly hint?: string | undefined;
}

/** How an evaluation ended in the image. */
export type EvaluationResult =
  | {
      readonly status: "returned";
      readonly values: readonly string[];
      readonly cut: readonly CutValue[];
      readonly count: number;
      readonly unshown: readonly number[];
      readonly forms: number;
      readonly idle?: readonly IdleBreakpoint[] | undefined;
      readonly update: SessionUpdate;
    }
  | { readonly status: "aborted"; readonly update: SessionUpdate }
  | {
      readonly status: "failed";
      readonly error: ErrorSnapshot;
      readonly failure: ReadFailure;
      readonly update: SessionUpdate;
    }
  | { readonly status: "no-such-package"; readonly name: string }
  | { readonly status: "no-such-type"; readonly name: string }
  /** Its thread was ended from outside. */
  | { readonly status: "unwound" };

const { boolean, integer, list, map, nullable, optional, plist, string, tagged, tuple, tupleRest } = decode;

/** Stands for an infinite limit: larger than any output, and a fixnum on every platform. */
const NO_LIMIT = 2 ** 40;

/** Converts a limit in characters, which may be infinite, to an integer for Lisp. */
export function lispLimit(characters: number): number {
  return Math.min(Math.floor(characters), NO_LIMIT);
}

/** What keeps a printed value from showing everything. */
export const CUTS = ["characters", "length", "level", "number"] as const;

/** Why a printed value does not show everything. */
export interface Cut {
  /**
   * `characters`: longer than `valueLimit`, or than its part of the 1,000,000 characters for all values; `length`: a list or vector in it has more
   * elements than `printLength` or `*print-length*` allows; `level`: nested deeper than `printLevel` or `*print-level*`; `number`: it is an
   * integer or ratio of more than 100,000 bits, of which only the size is shown.
   */
  readonly by: readonly (typeof CUTS)[number][];
  /** How many characters or, without `characters`, elements of the value are shown; `undefined` if only parts of it are cut. */
  readonly shown: number | undefined;
  /** How many of them the value has; `undefined` for text that was not printed to its end. */
  readonly total: number | undefined;
}

/** A printed value that does not show everything. */
export interface CutValue extends Cut {
  /** Position in `values`. */
  readonly index: number;
}

const cutFields = [list(keywordOf(CUTS)), nullable(integer), nullable(integer)] as const;

/** `(REASONS SHOWN TOTAL)` (lisp/printing/values.lisp) */
export const cut: Decoder<Cut> = map(tuple(...cutFields), ([by, shown, total]) => ({ by, shown, total }));

const cutValue: Decoder<CutValue> = map(tuple(integer, ...cutFields), ([index, by, shown, total]) => ({
  index,
  by,
  shown,
  total,
}));

/** The first values as text, those that are cut, and how many there were (lisp/printing/values.lisp). */
export const printedValues = plist({ values: list(string), cut: list(cutValue), count: integer });

const idleBreakpoint: Decoder<IdleBreakpoint> = plist({
  id: integer,
  function: string,
  calls: integer,
  callsElsewhere: integer,
  hits: integer,
  hitCount: integer,
  lost: boolean,
  missed: nullable(string),
});

const returned = plist({
  values: list(string),
  cut: list(cutValue),
  count: integer,
  unshown: list(integer),
  forms: integer,
  idle: optional(list(idleBreakpoint)),
});

const failure = plist({
  offset: optional(nullable(integer)),
  evaluated: integer,
  hint: optional(nullable(string)),
});

const failed = (datum: Sexp) => {
  const { offset, evaluated, hint } = failure(datum);
  return { error: errorSnapshot(datum), failure: { offset: offset ?? undefined, evaluated, hint: hint ?? undefined } };
};

/** `(:returned PLIST . ENDING)`, `(:failed SNAPSHOT . ENDING)`, `(:aborted . ENDING)` or `(:no-such-package NAME)` (lisp/evaluate/evaluate.lisp). */
const evaluationResult: Decoder<EvaluationResult> = tagged({
  returned: map(
    tupleRest([returned], sessionUpdate),
    ([result, update]): EvaluationResult => ({ status: "returned", ...result, update }),
  ),
  failed: map(
    tupleRest([failed], sessionUpdate),
    ([result, update]): EvaluationResult => ({ status: "failed", ...result, update }),
  ),
  aborted: map(sessionUpdate, (update): EvaluationResult => ({ status: "aborted", update })),
  "no-such-type": map(tuple(string), ([name]): EvaluationResult => ({ status: "no-such-type", name })),
  "no-such-package": map(tuple(string), ([name]): EvaluationResult => ({ status: "no-such-package", name })),
});

/** The names of the options. Finding a symbol takes longer than the rest of encoding a call. */
const KEYS = {
  id: keyword("id"),
  package: keyword("package"),
  stdin: keyword("stdin"),
  check: keyword("check"),
  unwind: keyword("unwind"),
  debug: keyword("debug"),
  limit: keyword("limit"),
  tail: keyword("tail"),
  conditions: keyword("conditions"),
  valueLimit: keyword("value-limit"),
  length: keyword("length"),
  level: keyword("level"),
  prompted: keyword("prompted"),
  data: keyword("data"),
  ids: keyword("ids"),
} as const;

/** Reads and evaluates code form by form. The thread may stop and resume any number of times before it answers. */
export const evaluate = lispFunction({
  name: "evaluate",
  module: "evaluate",
  encode: (call: EvaluateCall): readonly Sexp[] => {
    const items: Sexp[] = [call.code, KEYS.id, call.id];
    if (call.package !== undefined) items.push(KEYS.package, call.package);
    if (call.stdin !== undefined) items.push(KEYS.stdin, call.stdin);
    if (call.check) items.push(KEYS.check, T);
    if (call.unwind) items.push(KEYS.unwind, T);
    if (!call.debug) items.push(KEYS.debug, NIL);
    items.push(KEYS.limit, lispLimit(call.limit), KEYS.tail, call.tail);
    if (call.conditions) items.push(KEYS.conditions, call.conditions === true ? T : call.conditions);
    if (call.valueLimit !== undefined) items.push(KEYS.valueLimit, lispLimit(call.valueLimit));
    if (call.printLength !== undefined) items.push(KEYS.length, lispLimit(call.printLength));
    if (call.printLevel !== undefined) items.push(KEYS.level, lispLimit(call.printLevel));
    if (call.prompted === true) items.push(KEYS.prompted, T);
    if (call.data === true) items.push(KEYS.data, T);
    if (call.ids === true) items.push(KEYS.ids, T);
    return items;
  },
  decode: evaluationResult,
  unwound: (): EvaluationResult => ({ status: "unwound" }),
});
