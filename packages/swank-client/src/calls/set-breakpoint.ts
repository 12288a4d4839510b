import { type Decoder, decode, keyword, NIL, type Sexp, T } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";
import { BREAKPOINT_TIME, breakpoint, type NewBreakpoint } from "./breakpoint.js";

const { map, nullable, string, tagged, tuple } = decode;

/** When a breakpoint stops, or what it prints instead. */
export interface BreakpointConditions {
  /**
   * Lisp code; the breakpoint stops if it is true. Default: always stop. The code can use the function's parameters by their names, and the
   * argument list as `args`. A parameter without an argument has its default if that is a constant, else NIL.
   */
  readonly condition?: string | undefined;
  /** Lisp code with the same variables. Its value is printed to the evaluation's standard output, with the caller, instead of stopping. */
  readonly log?: string | undefined;
  /** Number of the first matching call that stops, from 1; every later one stops, too. Default: 1. */
  readonly hitCount?: number | undefined;
  /** Swank's id of a thread, or `any`. Default: this client's evaluations. */
  readonly thread?: number | "any" | undefined;
  /** The package in which the name and the condition are read. Default: the session's. */
  readonly package?: string | undefined;
}

/** `(:set PLIST WARNING)` */
const newBreakpoint: Decoder<NewBreakpoint> = tagged({
  set: map(tuple(breakpoint, nullable(string)), ([set, warning]) => ({ ...set, warning })),
});

const REMEDIES = {
  name: "Name one function, as code writes it: my-app:process, (setf name) or (method name (class)).",
  undefined: "Define the function first, or write its package, as in my-app:process.",
  macro: "Set the breakpoint on a function that its expansion calls.",
  "used-by-lisp": "Set the breakpoint on a function of the program that calls it.",
  code: "Correct the code: it must compile, as (> (first args) 3) does. args is the argument list, and parameters have their names.",
} as const;

const KINDS = ["name", "undefined", "macro", "used-by-lisp", "code"] as const satisfies (keyof typeof REMEDIES)[];

function refused(name: string, reason: string, kind: keyof typeof REMEDIES): SwankError {
  return new SwankError("BREAKPOINT_REFUSED", `${name}: ${reason}`, { remedy: REMEDIES[kind] });
}

const refusals = {
  refused: (name: string) => map(tuple(string, keywordOf(KINDS)), ([reason, kind]) => refused(name, reason, kind)),
};

/** Checks whether a breakpoint can be set on a function. */
export const checkBreakpoint = lispFunction({
  name: "check-breakpoint",
  module: "debugger",
  encode: (name: string, home: string | undefined): readonly Sexp[] => [name, home ?? NIL],
  decode: tagged({ breakable: map(tuple(), () => undefined) }),
  refusals,
  timeout: BREAKPOINT_TIME,
  label: () => "checking a breakpoint",
});

/** Sets a breakpoint on a function (lisp/debugger/breakpoints.lisp). */
export const setBreakpoint = lispFunction({
  name: "set-breakpoint",
  module: "debugger",
  encode: (
    name: string,
    { condition, log, hitCount, thread, package: home }: BreakpointConditions,
  ): readonly Sexp[] => {
    const items: Sexp[] = [name];
    if (condition !== undefined) items.push(keyword("condition"), condition);
    if (log !== undefined) items.push(keyword("log"), log);
    if (hitCount !== undefined) items.push(keyword("from"), hitCount);
    if (home !== undefined) items.push(keyword("package"), home);
    if (thread !== undefined) items.push(keyword("thread"), thread === "any" ? T : thread);
    return items;
  },
  decode: newBreakpoint,
  refusals,
  timeout: BREAKPOINT_TIME,
  label: () => "setting a breakpoint",
});
