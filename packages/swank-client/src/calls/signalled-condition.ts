import { type Decoder, decode } from "sexp-parser";

const { boolean, integer, list, nullable, plist, string } = decode;

/** Conditions that an evaluation signalled, and that differ only in their messages. */
export interface SignalledCondition {
  /** The class, with its package unless that is COMMON-LISP. */
  readonly type: string;
  /** Their different reports, the first three; empty if none can be printed any more. */
  readonly messages: readonly string[];
  /** True if there were others. */
  readonly moreMessages: boolean;
  /** The function that signalled it, `top level` for the evaluated forms; `undefined` if it is not known. */
  readonly place: string | undefined;
  /** The program's function that called `place`, if that is one of Lisp's. */
  readonly caller: string | undefined;
  /** The type in the clause that took it, if it is known. */
  readonly clause: string | undefined;
  /** The function with that clause; `undefined` if no handler took the condition. */
  readonly handler: string | undefined;
  readonly count: number;
}

/** The conditions that an evaluation and the threads that it started signalled. */
export interface SignalledConditions {
  /** The first 40 different ones, in the order in which they were first signalled. */
  readonly entries: readonly SignalledCondition[];
  /** The number of conditions that are not counted in `entries`. */
  readonly others: number;
  /** The number of conditions that Lisp's own functions handled. */
  readonly internal: number;
}

const signalledCondition: Decoder<SignalledCondition> = plist({
  type: string,
  messages: list(string),
  moreMessages: boolean,
  place: nullable(string),
  caller: nullable(string),
  clause: nullable(string),
  handler: nullable(string),
  count: integer,
});

/** Decodes a plist of lisp/evaluate/condition-log.lisp. */
export const signalledConditions: Decoder<SignalledConditions> = plist({
  entries: list(signalledCondition),
  others: integer,
  internal: integer,
});
