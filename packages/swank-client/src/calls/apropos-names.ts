import { type Decoder, decode, keyword, NIL, T } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";
import { badPattern } from "./bad-pattern.js";
import { CODE_TIME } from "./code-time.js";
import { type FoundName, type FoundNames, NAMED_KINDS, type NamedKind } from "./found-names.js";
import { nameNotFound } from "./name-not-found.js";

const { integer, list, map, nullable, string, tagged, tuple } = decode;

/** Which names to look for. */
export interface WantedNames {
  readonly pattern: string;
  readonly regexp: boolean;
  readonly package: string | undefined;
  readonly kind: NamedKind | undefined;
  readonly external: boolean;
  readonly limit: number;
}

const name: Decoder<FoundName> = map(
  tuple(
    string,
    string,
    keywordOf(["external", "internal"] as const),
    list(keywordOf(NAMED_KINDS)),
    nullable(string),
    nullable(string),
  ),
  ([text, packageName, access, kinds, arglist, documentation]) => ({
    name: text,
    package: packageName,
    access,
    kinds,
    arglist,
    documentation,
  }),
);

const count = map(tuple(string, integer), ([packageName, number]) => ({ package: packageName, count: number }));

const found: Decoder<FoundNames> = map(
  tuple(list(name), integer, list(count), integer, integer, list(string)),
  ([names, all, leftOut, undefinedCount, filteredCount, similar]) => ({
    status: "found",
    names,
    count: all,
    leftOut,
    undefinedCount,
    filteredCount,
    similar,
  }),
);

/** Symbols whose names contain or match a pattern (lisp/code/apropos.lisp). */
export const aproposNames = lispFunction({
  name: "apropos-names",
  module: "code",
  encode: ({ pattern, regexp, package: packageName, kind, external, limit }: WantedNames) => [
    pattern,
    regexp ? T : NIL,
    packageName ?? NIL,
    kind === undefined ? NIL : keyword(kind),
    external ? T : NIL,
    limit,
  ],
  decode: tagged({ found, ...badPattern, "package-not-found": nameNotFound["package-not-found"] }),
  timeout: CODE_TIME,
  label: () => "searching for names",
});
