import { decode, list, symbol } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/**
 * `(swank:default-directory)`: the image's current directory, with a slash at the end; or, if it does not exist, the value of
 * `*default-pathname-defaults*`.
 */
export const defaultDirectory = lispFunction({
  name: "cl:or",
  label: () => "swank:default-directory",
  encode: () => [
    list(symbol("cl:ignore-errors"), list(symbol("swank:default-directory"))),
    list(symbol("cl:namestring"), symbol("cl:*default-pathname-defaults*")),
  ],
  decode: decode.string,
});
