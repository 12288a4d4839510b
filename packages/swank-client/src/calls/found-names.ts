import type { PackageNotFound } from "./symbol-description.js";

/** What a symbol can name. */
export const NAMED_KINDS = [
  "function",
  "generic-function",
  "macro",
  "special-operator",
  "variable",
  "constant",
  "symbol-macro",
  "class",
  "structure",
  "condition",
  "built-in-class",
  "type",
  "setf-expander",
] as const;

/** One of `NAMED_KINDS`. */
export type NamedKind = (typeof NAMED_KINDS)[number];

/** A symbol that was found by its name. */
export interface FoundName {
  /** As code in another package writes it: `MY-APP:RUN` if it is exported, otherwise `MY-APP::RUN`. */
  readonly name: string;
  readonly package: string;
  readonly access: "external" | "internal";
  readonly kinds: readonly NamedKind[];
  /** The lambda list of an operator, at most 200 characters. */
  readonly arglist: string | undefined;
  /** The first line of the documentation, at most 200 characters. */
  readonly documentation: string | undefined;
}

/** Symbols that name something, sorted by package: the session's first, Lisp's own after `COMMON-LISP` last; exported names come first. */
export interface FoundNames {
  readonly status: "found";
  readonly names: readonly FoundName[];
  /** Number of all symbols found, with those left out. */
  readonly count: number;
  /** Number of symbols left out, by package. */
  readonly leftOut: readonly { readonly package: string; readonly count: number }[];
  /** Number of further symbols with such a name that name nothing. */
  readonly undefinedCount: number;
  /** Number of further symbols that are of another kind, or are not exported. */
  readonly filteredCount: number;
  /** If no symbol has such a name: names that differ from the pattern in one or two characters. */
  readonly similar: readonly string[];
}

/** The pattern is no regular expression. */
export interface BadPattern {
  readonly status: "bad-pattern";
  /** What is wrong, a sentence without its full stop. */
  readonly reason: string;
}

/** The names that match a pattern, or the reason why none were searched. */
export type NamesFound = FoundNames | BadPattern | PackageNotFound;
