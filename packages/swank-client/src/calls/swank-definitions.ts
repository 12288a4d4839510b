import { type Decoder, decode, keyword, NIL, quote, type Sexp, T } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { location, type SourceLocation } from "./location.js";

const { list, map, nullable, oneOf, plist, string, tupleRest } = decode;

/** A definition or a use of one, and its place. */
export interface DefinitionPlace {
  /** As Lisp prints it, e.g. `(DEFUN F)`. */
  readonly name: string;
  readonly location: SourceLocation;
}

/** An empty list is `nil`. */
const places: Decoder<readonly DefinitionPlace[]> = map(
  nullable(list(map(tupleRest([name, location], decode.any), ([shown, where]) => ({ name: shown, location: where })))),
  (found) => found ?? [],
);

/** A name, which some versions send as a symbol. */
function name(datum: Sexp): string {
  return oneOf(string, decode.symbolName, (other: Sexp) => list(decode.any)(other).join(" "))(datum);
}

/** `(swank:find-definitions-for-emacs "NAME")`: all definitions of a name, as `M-.` shows them. */
export const findDefinitionsForEmacs = lispFunction({
  name: "swank:find-definitions-for-emacs",
  encode: (symbolName: string) => [symbolName],
  decode: places,
});

/** Kinds of cross references. SBCL does not know `calls-who`. */
export const XREF_KINDS = [
  "calls",
  "calls-who",
  "references",
  "binds",
  "sets",
  "macroexpands",
  "specializes",
  "callers",
  "callees",
] as const;

/** A kind of cross reference. */
export type XrefKind = (typeof XREF_KINDS)[number];

/** Uses of a name, or `undefined` if this Lisp does not record that kind. */
const xrefs: Decoder<readonly DefinitionPlace[] | undefined> = oneOf(
  map(decode.literal(keyword("not-implemented")), () => undefined),
  places,
);

/** `(swank:xref :KIND "NAME")`: who calls, binds, sets, references, expands or specializes a name. SBCL records uses in compiled code only. */
export const xref = lispFunction({
  name: "swank:xref",
  encode: (kind: XrefKind, symbolName: string) => [keyword(kind), symbolName],
  decode: xrefs,
});

/** Uses of one kind. */
export interface XrefGroup {
  readonly kind: string;
  readonly places: readonly DefinitionPlace[];
}

/** `(swank:xrefs '(:KIND ...) "NAME")`: several kinds at once. Kinds without a use are absent. */
export const xrefGroups = lispFunction({
  name: "swank:xrefs",
  encode: (kinds: readonly XrefKind[], symbolName: string) => [quote(kinds.map((kind) => keyword(kind))), symbolName],
  decode: map(
    nullable(
      list(
        map(tupleRest([decode.keywordName], places), ([kind, found]) => ({ kind: kind.toLowerCase(), places: found })),
      ),
    ),
    (groups): readonly XrefGroup[] => groups ?? [],
  ),
});

const description = (rpc: string) =>
  lispFunction({ name: rpc, encode: (symbolName: string): readonly Sexp[] => [symbolName], decode: string });

/** `(swank:describe-symbol "NAME")`: what DESCRIBE prints. An unknown symbol is an error. */
export const describeSymbolText = description("swank:describe-symbol");

/** `(swank:describe-function "NAME")`: what DESCRIBE prints for the function. */
export const describeFunction = description("swank:describe-function");

/** `(swank:documentation-symbol "NAME")`: all documentation of a symbol as one text. */
export const documentationSymbol = description("swank:documentation-symbol");

/** `(swank:hyperdoc "NAME")`: what the library Hyperdoc finds for a symbol: kinds and addresses; empty without that library. */
export const hyperdoc = lispFunction({
  name: "swank:hyperdoc",
  contrib: "swank-hyperdoc",
  encode: (name: string) => [name],
  decode: decode.map(decode.nullable(decode.list(decode.any)), (found): readonly Sexp[] => found ?? []),
});

/** `(swank:describe-definition-for-emacs "NAME" :KIND)`: what DESCRIBE prints for one meaning, e.g. `function`, `variable`, `class`. */
export const describeDefinitionForEmacs = lispFunction({
  name: "swank:describe-definition-for-emacs",
  encode: (symbolName: string, kind: string) => [symbolName, keyword(kind)],
  decode: string,
});

/** A symbol that `apropos` found. */
export interface AproposEntry {
  /** The symbol as code writes it, e.g. `SWANK:PING`. */
  readonly designator: string;
  /** Its meanings, e.g. `function` or `class`, each with the documentation, if there is any. */
  readonly meanings: Readonly<Record<string, string | undefined>>;
}

const MEANINGS = [
  "variable",
  "function",
  "generic-function",
  "macro",
  "special-operator",
  "setf",
  "type",
  "class",
  "alien-type",
] as const;

const documented = nullable(
  oneOf(
    string,
    map(decode.keywordName, () => undefined),
  ),
);

const aproposEntry: Decoder<AproposEntry> = (datum) => {
  const { designator } = plist({ designator: string })(datum);
  const present = Object.fromEntries(pairs(datum));
  const meanings: Record<string, string | undefined> = {};
  for (const kind of MEANINGS) if (kind in present) meanings[kind] = documented(present[kind] ?? NIL);
  return { designator, meanings };
};

/** The keys of a property list in lower case, with their values. */
function pairs(datum: Sexp): [string, Sexp][] {
  const items = list(decode.any)(datum);
  const entries: [string, Sexp][] = [];
  for (let index = 0; index + 1 < items.length; index += 2) {
    entries.push([decode.keywordName(items[index] ?? NIL).toLowerCase(), items[index + 1] ?? NIL]);
  }
  return entries;
}

/** Which symbols to find. */
export interface AproposListOptions {
  /** Default: true. */
  readonly externalOnly?: boolean;
  readonly caseSensitive?: boolean;
  /** Default: all packages. */
  readonly package?: string;
}

/** `(swank:apropos-list-for-emacs "PATTERN" EXTERNAL-ONLY CASE-SENSITIVE "PACKAGE")`: bound symbols whose name contains the text. */
export const aproposListForEmacs = lispFunction({
  name: "swank:apropos-list-for-emacs",
  encode: (pattern: string, { externalOnly = true, caseSensitive = false, ...where }: AproposListOptions = {}) => [
    pattern,
    externalOnly ? T : NIL,
    caseSensitive ? T : NIL,
    where.package ?? NIL,
  ],
  decode: map(nullable(list(aproposEntry)), (found): readonly AproposEntry[] => found ?? []),
});

/** `(swank:mop :RELATION "CLASS")`: direct subclasses or superclasses, as names. */
export const mop = lispFunction({
  name: "swank:mop",
  encode: (relation: "subclasses" | "superclasses", className: string) => [keyword(relation), className],
  decode: map(nullable(list(name)), (found): readonly string[] => found ?? []),
});

/** `(swank:find-source-location-for-emacs '(:string "FORM" "PACKAGE"))`: the place of the definition of a form's value, such as `#'f`. */
export const findSourceLocationForEmacs = lispFunction({
  name: "swank:find-source-location-for-emacs",
  encode: (form: string, packageName: string) => [quote([keyword("string"), form, packageName])],
  decode: location,
});
