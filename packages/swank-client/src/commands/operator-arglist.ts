import { decode, list, symbol } from "sexp-parser";
import type { Command } from "./command.js";

/**
 * `(swank:operator-arglist "NAME" "PACKAGE")`: a function's name and lambda list as text, e.g. `(swank:ping TAG)`; `undefined` for a name that is
 * not known. Also tells versions of Swank apart, by the arguments of its own functions.
 */
export const operatorArglist = {
  name: "swank:operator-arglist",
  encode: (name: string, packageName: string) => list(symbol("swank:operator-arglist"), name, packageName),
  decode: decode.nullable(decode.string),
} satisfies Command<[name: string, packageName: string], string | undefined>;
