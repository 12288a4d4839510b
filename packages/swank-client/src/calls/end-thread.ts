import { decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** Unwinds a thread of the image, and ends it. Gives false if there is none with this Swank id. */
export const endThread = lispFunction({
  name: "end-thread",
  module: "connection",
  encode: (id: number) => [id],
  decode: decode.boolean,
});
