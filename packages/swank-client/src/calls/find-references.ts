import { decode, keyword, NIL } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { CODE_TIME } from "./code-time.js";
import { foundReferences, type ReferenceKind, type References } from "./found-references.js";
import { nameNotFound } from "./name-not-found.js";

const { map, tagged } = decode;

/** What to find, and which part of it. */
export interface WantedReferences {
  readonly name: string;
  readonly package: string | undefined;
  readonly kind: ReferenceKind;
  readonly start: number;
  readonly limit: number;
}

/** What refers to a name in a package, by default the session's (lisp/code/find-references.lisp). */
export const findReferences = lispFunction({
  name: "find-references",
  module: "code",
  encode: ({ name, package: packageName, kind, start, limit }: WantedReferences) => [
    name,
    packageName ?? NIL,
    keyword(kind),
    start,
    limit,
  ],
  decode: tagged({ found: map(foundReferences, (found): References => found), ...nameNotFound }),
  timeout: CODE_TIME,
  label: () => "finding references",
});
