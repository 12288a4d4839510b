import { print, type Sexp } from "sexp-parser";
import { SwankError } from "../errors.js";
import { type ClientMessage, encodeMessage } from "./encode-message.js";

/**
 * The text of a message, ready to be framed.
 *
 * @throws SwankError `INVALID_ARGUMENT` when it holds text that Lisp's reader would run (`#.`) or refuse (`#<...>`)
 */
export function printMessage(message: ClientMessage): string {
  const datum = encodeMessage(message);
  const opaque = findOpaque(datum);
  if (opaque === undefined) return print(datum);
  throw new SwankError(
    "INVALID_ARGUMENT",
    `A message cannot carry ${opaque.slice(0, 80)}: only Lisp could make sense of it.`,
  );
}

/** The first datum in it that is kept as text; without recursion, since the depth is the caller's. */
function findOpaque(datum: Sexp): string | undefined {
  const waiting: Sexp[] = [datum];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "object" && "kind" in next && next.kind === "opaque") return next.text;
    for (const part of parts(next)) waiting.push(part);
  }
  return undefined;
}

function parts(datum: Sexp): readonly Sexp[] {
  if (typeof datum !== "object") return [];
  if (!("kind" in datum)) return datum;
  switch (datum.kind) {
    case "dotted":
      return [...datum.items, datum.tail];
    case "vector":
      return datum.items;
    case "structure":
      return datum.slots;
    case "array":
      return [datum.contents];
    case "complex":
      return [datum.real, datum.imaginary];
    case "backquote":
    case "unquote":
    case "splice":
    case "nsplice":
      return [datum.datum];
    default:
      return [];
  }
}
