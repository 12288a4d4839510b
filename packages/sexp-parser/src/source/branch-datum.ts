import { LITERALS } from "../read/literals.js";
import { dotted } from "../syntax/kinds.js";
import { NIL, QUOTE } from "../syntax/symbols.js";
import type { Sexp } from "../types.js";
import type { Frame } from "./frame.js";

/** The datum of a list or vector; `undefined` when a vector has more elements than its length says. */
export function listDatum({ open, data, dot }: Frame): Sexp | undefined {
  const list = dot < 0 ? dotted(data, NIL) : dotted(data.slice(0, dot), data[dot] ?? NIL);
  return open === "(" ? list : LITERALS.get("(")?.(list, argumentOf(open));
}

/** The datum of the prefix `open` with `datum` after it; `undefined` when the two do not fit. */
export function prefixDatum(open: string, datum: Sexp, text: string): Sexp | undefined {
  const literal = LITERALS.get(open.slice(-1).toUpperCase());
  switch (open) {
    case "'":
      return [QUOTE, datum];
    case "`":
      return { kind: "backquote", datum };
    case ",":
      return { kind: "unquote", datum };
    case ",@":
      return { kind: "splice", datum };
    case ",.":
      return { kind: "nsplice", datum };
    default:
      return literal === undefined ? { kind: "opaque", text } : literal(datum, argumentOf(open));
  }
}

/** The number between `#` and the char of its syntax. */
function argumentOf(open: string): number | undefined {
  const digits = open.slice(1, -1);
  return digits === "" ? undefined : Number(digits);
}
