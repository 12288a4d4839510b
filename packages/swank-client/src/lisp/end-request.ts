import { keyword, list, quote, type Sexp, symbol } from "sexp-parser";
import { runtimeModule } from "./runtime-source.js";

/** Ends a request of the sending connection, in whatever thread it runs. Has no effect in an image without the system `connection`. */
export function endRequestForm(id: number): Sexp {
  const marker = keyword(runtimeModule("connection").marker);
  // Lisp could not read the name of a function in a package that does not exist.
  return list(
    symbol("cl:funcall"),
    list(symbol("cl:get"), marker, keyword("end-request"), quote(symbol("cl:identity"))),
    id,
  );
}
