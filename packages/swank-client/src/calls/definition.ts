import { keywordOf } from "../lisp/decoders.js";

/** Milliseconds that the image has to answer; a long compilation delays the answer. */
export const SESSION_TIME = 30_000;

/** Kinds of definitions, in the words of Common Lisp. */
export const DEFINITION_KINDS = [
  "function",
  "generic-function",
  "method",
  "macro",
  "compiler-macro",
  "setf-expander",
  "variable",
  "constant",
  "symbol-macro",
  "class",
  "structure",
  "condition",
  "type",
  "method-combination",
  "package",
] as const;

/** One of `DEFINITION_KINDS`. */
export type DefinitionKind = (typeof DEFINITION_KINDS)[number];

/** Decodes a keyword for one of `DEFINITION_KINDS`. */
export const definitionKind = keywordOf(DEFINITION_KINDS);

/** A definition made by this client's evaluations that still exists. */
export interface Definition {
  readonly kind: DefinitionKind;
  /** With its package, as code writes it: `MY-APP:PROCESS`, `(SETF MY-APP::SIZE)`; for a method also its qualifiers and specializers. */
  readonly name: string;
  /** True if it replaced another definition. */
  readonly redefined: boolean;
  /** True if another client or a file has since redefined it. */
  readonly changed: boolean;
}

/** Everything this client's evaluations have defined and loaded. */
export interface Definitions {
  /** In the order in which they were first defined. */
  readonly definitions: readonly Definition[];
  /** Loaded files and systems, in the order of loading; their definitions are not listed. */
  readonly loaded: readonly string[];
}

/** Why `reset` kept a definition. */
export const LEFT_REASONS = ["kind", "existed", "changed", "extended", "locked"] as const;

/**
 * One of `LEFT_REASONS`. `kind`: `reset` undefines only functions, macros and variables. `existed`: the name was defined before this client
 * defined it. `changed`: another client or a file redefined it. `extended`: other code added methods. `locked`: a package lock forbids it.
 */
export type LeftReason = (typeof LEFT_REASONS)[number];

/** The result of `reset`. */
export interface ResetReport {
  readonly undefined: readonly Pick<Definition, "kind" | "name">[];
  readonly left: readonly (Pick<Definition, "kind" | "name"> & { readonly reason: LeftReason })[];
  /** Files and systems whose definitions were kept. */
  readonly loaded: readonly string[];
  /** Number of running or stopped evaluations that were aborted. */
  readonly aborted: number;
  /** Number of evaluations that could not be aborted because they run without interrupts. */
  readonly stillRunning: number;
}
