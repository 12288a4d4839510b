import { decode } from "sexp-parser";
import type { PackageNotFound, SymbolNotFound } from "./symbol-description.js";

const { integer, list, map, nullable, string, tuple } = decode;

/** Decoders by tag of the replies to a question about a name that is not in the image (`call-with-named` in lisp/describe/describe.lisp). */
export const nameNotFound = {
  "package-not-found": map(
    tuple(string, list(string), nullable(string)),
    ([packageName, similar, oddCharacter]): PackageNotFound => ({
      status: "package-not-found",
      package: packageName,
      similar,
      ...(oddCharacter === undefined ? {} : { oddCharacter }),
    }),
  ),
  "symbol-not-found": map(
    tuple(string, string, list(string), integer, nullable(string)),
    ([name, packageName, elsewhere, more, oddCharacter]): SymbolNotFound => ({
      status: "symbol-not-found",
      name,
      package: packageName,
      elsewhere,
      more,
      ...(oddCharacter === undefined ? {} : { oddCharacter }),
    }),
  ),
};
