import { decode, keyword } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/**
 * Who receives errors from background threads. `auto`: another client if one is connected, otherwise this one. `mine`: this one, until it
 * disconnects. `theirs`: never this one.
 */
export type ForeignErrors = "auto" | "mine" | "theirs";

/** Sets up a new connection so that it does not disturb other clients, and so that the image cleans up after it. Gives the number of others. */
export const attach = lispFunction({
  name: "attach",
  module: "connection",
  encode: (foreignErrors: ForeignErrors) => [keyword(foreignErrors)],
  decode: decode.integer,
  label: () => "attaching",
});
