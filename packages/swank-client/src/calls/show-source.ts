import { decode, NIL } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { CODE_TIME } from "./code-time.js";
import { definitionText, type FoundDefinitions, type ShownSource } from "./definition-text.js";
import { nameNotFound } from "./name-not-found.js";

const { integer, list, map, string, tagged, tuple } = decode;

function sources(status: FoundDefinitions["status"]) {
  return map(
    tuple(string, list(definitionText), integer),
    ([name, definitions, leftOut]): ShownSource => ({ status, name, definitions, leftOut }),
  );
}

/** The definitions of a name in `packageName`, by default the session's package, with their text (lisp/code/show-source.lisp). */
export const showSource = lispFunction({
  name: "show-source",
  module: "code",
  encode: (name: string, packageName: string | undefined) => [name, packageName ?? NIL],
  decode: tagged({ found: sources("found"), "no-such-method": sources("no-such-method"), ...nameNotFound }),
  timeout: CODE_TIME,
  label: () => "showing the source of a name",
});
