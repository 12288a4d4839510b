import { keyword, list, quote, type Sexp, symbol } from "sexp-parser";
import { runtimeModule } from "./runtime-source.js";

/** Functions that the system `connection` offers under a keyword. */
export type ConnectionFunction = "end-request" | "held-locks" | "serving-locks";

/** Calls a function of the system `connection` with data. Returns that in an image without that system. */
export function connectionFunctionForm(name: ConnectionFunction, operand: Sexp): Sexp {
  const marker = keyword(runtimeModule("connection").marker);
  // Lisp could not read the name of a function in a package that does not exist.
  return list(
    symbol("cl:funcall"),
    list(symbol("cl:get"), marker, keyword(name), quote(symbol("cl:identity"))),
    quote(operand),
  );
}
