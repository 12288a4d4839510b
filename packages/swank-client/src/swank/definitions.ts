import { type Decoded, decode, keyword, NIL, quote, type Sexp, T } from "sexp-parser";
import { location } from "../source-text/source-text.js";
import { call, callsWith, oneText } from "./call.js";

const { any, keywordName, list, literal, map, nullable, oneOf, plist, record, string, symbolName, tupleRest } = decode;

const definitionPlace = record({
  /** As Lisp prints it, e.g. `(DEFUN F)`. */
  name: string,
  location,
});

/** A definition or a use of one, and its place. */
export interface DefinitionPlace extends Decoded<typeof definitionPlace> {}

const places = list<DefinitionPlace>(definitionPlace);

const lowerCase = map(keywordName, (name) => name.toLowerCase());

/** A kind of cross reference. SBCL does not know `calls-who`. */
export type XrefKind =
  | "calls"
  | "calls-who"
  | "references"
  | "binds"
  | "sets"
  | "macroexpands"
  | "specializes"
  | "callers"
  | "callees";

const xrefGroup = map(tupleRest([lowerCase], places), ([kind, found]) => ({ kind, places: found }));

/** Uses of one kind. */
export interface XrefGroup extends Decoded<typeof xrefGroup> {}

/** A symbol that `apropos` found. */
export interface AproposEntry {
  /** The symbol as code writes it, e.g. `SWANK:PING`. */
  readonly designator: string;
  /** Its meanings, e.g. `function` or `class`, each with the documentation, if there is any. */
  readonly meanings: Readonly<Record<string, string | undefined>>;
}

/** The documentation; `:not-documented` for none. */
const documentation = oneOf(string, () => undefined);

function aproposEntry(datum: Sexp): AproposEntry {
  const items = list(any)(datum);
  const meanings = items.flatMap((key, at) =>
    at % 2 === 1 || key === DESIGNATOR ? [] : [[lowerCase(key), documentation(items[at + 1] ?? NIL)] as const],
  );
  return { ...plist({ designator: string })(datum), meanings: Object.fromEntries(meanings) };
}

const DESIGNATOR = keyword("designator");

/** Which symbols to find. */
export interface AproposListOptions {
  /** Default: true. */
  readonly externalOnly?: boolean;
  readonly caseSensitive?: boolean;
  /** Default: all packages. */
  readonly package?: string;
}

/** A name, which some versions send as a symbol. */
const name = oneOf(
  string,
  symbolName,
  map(list(any), (parts) => parts.join(" ")),
);

/** Finding and describing names. */
export const definitions = {
  /** `(swank:find-definitions-for-emacs "NAME")`: all definitions of a name, as `M-.` shows them. */
  findDefinitionsForEmacs: call("swank:find-definitions-for-emacs", places, oneText),
  /** `(swank:find-source-location-for-emacs '(:string "FORM" "PACKAGE"))`: the place of the definition of a form's value, such as `#'f`. */
  findSourceLocationForEmacs: call(
    "swank:find-source-location-for-emacs",
    location,
    (form: string, packageName: string) => [quote([keyword("string"), form, packageName])],
  ),
  /**
   * `(swank:xref :KIND "NAME")`: who calls, binds, sets, references, expands or specializes a name; `undefined` if this Lisp does not record
   * that kind. SBCL records uses in compiled code only.
   */
  xref: call(
    "swank:xref",
    oneOf(
      map(literal(keyword("not-implemented")), () => undefined),
      places,
    ),
    (kind: XrefKind, symbolName: string) => [keyword(kind), symbolName],
  ),
  /** `(swank:xrefs '(:KIND ...) "NAME")`: several kinds at once. Kinds without a use are absent. */
  xrefs: call("swank:xrefs", list<XrefGroup>(xrefGroup), (kinds: readonly XrefKind[], symbolName: string) => [
    quote(kinds.map((kind) => keyword(kind))),
    symbolName,
  ]),
  /** `(swank:describe-symbol "NAME")`: what DESCRIBE prints. An unknown symbol is an error. */
  describeSymbol: call("swank:describe-symbol", string, oneText),
  /** `(swank:describe-function "NAME")`: what DESCRIBE prints for the function. */
  describeFunction: call("swank:describe-function", string, oneText),
  /** `(swank:describe-definition-for-emacs "NAME" :KIND)`: what DESCRIBE prints for one meaning, e.g. `function`, `variable`, `class`. */
  describeDefinitionForEmacs: call("swank:describe-definition-for-emacs", string, (name: string, kind: string) => [
    name,
    keyword(kind),
  ]),
  /** `(swank:documentation-symbol "NAME")`: all documentation of a symbol as one text. */
  documentationSymbol: call("swank:documentation-symbol", string, oneText),
  /**
   * `(swank:operator-arglist "NAME" "PACKAGE")`: a function's name and lambda list as text, e.g. `(swank:ping TAG)`; `undefined` for an
   * unknown name. Also distinguishes versions of Swank by the lambda lists of its own functions.
   */
  operatorArglist: call("swank:operator-arglist", nullable(string), (name: string, packageName: string) => [
    name,
    packageName,
  ]),
  /** `(swank:hyperdoc "NAME")`: what the library Hyperdoc finds for a symbol: kinds and addresses; empty without that library. */
  hyperdoc: callsWith({ contrib: "swank-hyperdoc" })("swank:hyperdoc", list(any), oneText),
  /** `(swank:apropos-list-for-emacs "PATTERN" EXTERNAL-ONLY CASE-SENSITIVE "PACKAGE")`: bound symbols whose name contains the text. */
  aproposListForEmacs: call(
    "swank:apropos-list-for-emacs",
    list(aproposEntry),
    (pattern: string, { externalOnly = true, caseSensitive = false, ...where }: AproposListOptions = {}) => [
      pattern,
      externalOnly ? T : NIL,
      caseSensitive ? T : NIL,
      where.package ?? NIL,
    ],
  ),
  /** `(swank:mop :RELATION "CLASS")`: direct subclasses or superclasses, as names. */
  mop: call("swank:mop", list(name), (relation: "subclasses" | "superclasses", className: string) => [
    keyword(relation),
    className,
  ]),
};
