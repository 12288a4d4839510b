import { type Decoder, decode } from "sexp-parser";
import { type StopOwner, stopOwner } from "./stop-owner.js";

/** Milliseconds that the image has to answer. */
export const BREAKPOINT_TIME = 10_000;

/**
 * States of a breakpoint. `failed`: its condition signalled an error, which was reported once; the breakpoint no longer stops anything.
 * `lost`: its function has since been undefined, or replaced other than by a definition.
 */
export const BREAKPOINT_STATES = ["armed", "failed", "lost"] as const;

/** A breakpoint on a function. */
export interface Breakpoint {
  readonly id: number;
  /** The function's name with its package, or the method. */
  readonly function: string;
  /** Lisp code; the breakpoint stops if it is true. It can use the function's parameters, and the argument list as `args`. */
  readonly condition: string | undefined;
  /** Lisp code with the same variables, whose value is printed instead of stopping. */
  readonly log: string | undefined;
  /** Number of the first matching call that stops, from 1; `undefined` means 1. */
  readonly hitCount: number | undefined;
  /** Swank's id of the thread that it stops, or `any`; `undefined` for this client's evaluations. */
  readonly thread: number | "any" | undefined;
  /** Matching calls so far. */
  readonly hits: number;
  readonly state: (typeof BREAKPOINT_STATES)[number];
  /** The error that the condition signalled. */
  readonly failure: string | undefined;
  /** What `log` printed outside running evaluations of this client: the last 20 lines. */
  readonly lines: readonly string[];
}

/** A breakpoint that was set. */
export interface NewBreakpoint extends Breakpoint {
  /** Says which calls the breakpoint cannot see; `undefined` if it sees all. */
  readonly warning: string | undefined;
}

/** A breakpoint that has stopped and printed nothing so far. */
export interface IdleBreakpoint {
  readonly id: number;
  /** The function's name with its package, or the method. */
  readonly function: string;
  /** Calls in the threads that it watches, and in others. */
  readonly calls: number;
  readonly callsElsewhere: number;
  /** Matching calls so far: fewer than `hitCount`. */
  readonly hits: number;
  readonly hitCount: number;
  /** True if its function has since been undefined, or replaced other than by a definition. */
  readonly lost: boolean;
  /** Calls that never reach it, as a sentence: those that were compiled inline. */
  readonly missed: string | undefined;
}

/** A thread of another client that stopped at a breakpoint of this one, in that other client's debugger. */
export interface HitElsewhere {
  /** The breakpoint's id. */
  readonly breakpoint: number;
  /** Name of the breakpoint's function. */
  readonly function: string;
  /** Swank's id of the thread. */
  readonly thread: number;
  readonly threadName: string;
  readonly owner: StopOwner;
}

const { boolean, integer, keywordName, list, map, nullable, oneOf, plist, string, tagged, tuple } = decode;

const thread: Decoder<number | "any"> = oneOf(
  integer,
  map(keywordName, () => "any" as const),
);

const fields = plist({
  id: integer,
  function: string,
  condition: nullable(string),
  log: nullable(string),
  hitCount: nullable(integer),
  thread: nullable(thread),
  hits: integer,
  lost: boolean,
  failure: nullable(string),
  lines: list(string),
});

/** Decodes a plist of lisp/debugger/breakpoints.lisp. */
export const breakpoint: Decoder<Breakpoint> = map(fields, ({ failure, lost, ...rest }) => ({
  ...rest,
  state: lost ? "lost" : failure === undefined ? "armed" : "failed",
  failure,
}));

/** `(:hit PLIST)`, the target of a message of lisp/debugger/breakpoints.lisp. */
export const hitElsewhere: Decoder<HitElsewhere> = tagged({
  hit: map(
    tuple(plist({ breakpoint: integer, function: string, thread: integer, name: string, owner: stopOwner })),
    ([{ name, ...rest }]): HitElsewhere => ({ ...rest, threadName: name }),
  ),
});
