import type { Sexp } from "sexp-parser";
import type { SwankMessage } from "./messages.js";

/** Gives a message its type. */
export function decodeMessage(datum: Sexp): SwankMessage {
  return { type: "unknown", name: "", datum };
}
