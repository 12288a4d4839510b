import { type Decoder, decode } from "sexp-parser";
import type { Breakpoint, HitElsewhere } from "../debugger/breakpoint.js";
import { owner } from "./decode-foreign-stops.js";

const { boolean, integer, keywordName, list, map, nullable, oneOf, plist, string, tagged, tuple } = decode;

/** What came of setting a breakpoint. */
export type BreakpointReply =
  | { readonly kind: "set"; readonly breakpoint: Breakpoint; readonly warning: string | undefined }
  | { readonly kind: "refused"; readonly reason: string };

const thread: Decoder<number | "any"> = oneOf(
  integer,
  map(keywordName, () => "any" as const),
);

const fields = plist({
  id: integer,
  function: string,
  condition: nullable(string),
  hitCount: nullable(integer),
  thread: nullable(thread),
  hits: integer,
  lost: boolean,
  failure: nullable(string),
});

/** A plist of lisp/breakpoints.lisp. */
const breakpoint: Decoder<Breakpoint> = map(fields, ({ failure, lost, ...rest }) => ({
  ...rest,
  state: lost ? "lost" : failure === undefined ? "armed" : "failed",
  failure,
}));

export const breakpointReply: Decoder<BreakpointReply> = tagged({
  set: map(
    tuple(breakpoint, nullable(string)),
    ([set, warning]): BreakpointReply => ({ kind: "set", breakpoint: set, warning }),
  ),
  refused: map(tuple(string), ([reason]): BreakpointReply => ({ kind: "refused", reason })),
});

export const breakpoints: Decoder<readonly Breakpoint[]> = list(breakpoint);

/** `(:hit PLIST)`, the target of a message of lisp/breakpoints.lisp. */
export const hitElsewhere: Decoder<HitElsewhere> = tagged({
  hit: map(
    tuple(plist({ breakpoint: integer, function: string, thread: integer, name: string, owner })),
    ([{ name, ...rest }]): HitElsewhere => ({ ...rest, threadName: name }),
  ),
});
