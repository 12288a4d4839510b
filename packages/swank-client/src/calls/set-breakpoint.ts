import { type Decoder, decode, keyword, type Sexp, T } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { lispFunction } from "../lisp/descriptor.js";
import { BREAKPOINT_TIME, breakpoint, type NewBreakpoint } from "./breakpoint.js";

const { map, nullable, string, tagged, tuple } = decode;

/** When a breakpoint stops. */
export interface BreakpointConditions {
  /** Lisp code; the breakpoint stops if it is true. `args` is bound to the argument list. Default: always stop. */
  readonly condition?: string | undefined;
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

/** Sets a breakpoint on a function (lisp/debugger/breakpoints.lisp). */
export const setBreakpoint = lispFunction({
  name: "set-breakpoint",
  module: "debugger",
  encode: (name: string, { condition, hitCount, thread, package: home }: BreakpointConditions): readonly Sexp[] => {
    const items: Sexp[] = [name];
    if (condition !== undefined) items.push(keyword("condition"), condition);
    if (hitCount !== undefined) items.push(keyword("from"), hitCount);
    if (home !== undefined) items.push(keyword("package"), home);
    if (thread !== undefined) items.push(keyword("thread"), thread === "any" ? T : thread);
    return items;
  },
  decode: newBreakpoint,
  refusals: {
    refused: (name: string) =>
      map(tuple(string), ([reason]) => new SwankError("BREAKPOINT_REFUSED", `${name}: ${reason}`)),
  },
  timeout: BREAKPOINT_TIME,
  label: () => "setting a breakpoint",
});
