import { decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/**
 * `(swank:operator-arglist "NAME" "PACKAGE")`: a function's name and lambda list as text, e.g. `(swank:ping TAG)`; `undefined` for an
 * unknown name. Also distinguishes versions of Swank by the lambda lists of its own functions.
 */
export const operatorArglist = lispFunction({
  name: "swank:operator-arglist",
  encode: (name: string, packageName: string) => [name, packageName],
  decode: decode.nullable(decode.string),
});
