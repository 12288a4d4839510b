import { decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** `(swank:default-directory)`: the image's current directory, with a slash at the end. */
export const defaultDirectory = lispFunction({
  name: "swank:default-directory",
  decode: decode.string,
});
