import { PrintError, parts, print, type Sexp } from "sexp-parser";
import { SwankError } from "../errors.js";
import { type ClientMessage, encodeMessage } from "./encode-message.js";

/**
 * The text of a message, ready to be framed.
 *
 * @throws SwankError `INVALID_ARGUMENT` when it holds text that Lisp's reader would run (`#.`) or refuse (`#<...>`), or what is no Lisp data
 */
export function printMessage(message: ClientMessage): string {
  const datum = encodeMessage(message);
  const text = printDatum(datum);
  const opaque = findOpaque(datum);
  if (opaque === undefined) return text;
  throw new SwankError(
    "INVALID_ARGUMENT",
    `A message cannot carry ${opaque.slice(0, 80)}: only Lisp could make sense of it.`,
  );
}

function printDatum(datum: Sexp): string {
  try {
    return print(datum);
  } catch (cause) {
    if (cause instanceof PrintError) throw new SwankError("INVALID_ARGUMENT", cause.message, { cause });
    // The text is longer than a string can be.
    if (cause instanceof RangeError) throw new SwankError("FRAME_TOO_LARGE", cause.message, { cause });
    throw cause;
  }
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
