import { decode } from "sexp-parser";
import type { PackageNotFound, SymbolNotFound } from "./symbol-description.js";

const { integer, list, map, string, tuple } = decode;

/** Decoders by tag of the replies to a question about a name that is not in the image (`call-with-named` in lisp/describe/describe.lisp). */
export const nameNotFound = {
  "package-not-found": map(
    tuple(string, list(string)),
    ([packageName, similar]): PackageNotFound => ({ status: "package-not-found", package: packageName, similar }),
  ),
  "symbol-not-found": map(
    tuple(string, string, list(string), integer),
    ([name, packageName, elsewhere, more]): SymbolNotFound => ({
      status: "symbol-not-found",
      name,
      package: packageName,
      elsewhere,
      more,
    }),
  ),
};
