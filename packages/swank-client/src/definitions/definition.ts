import type { QuestionOptions } from "../question-options.js";

/** What kind of thing is defined, in the words of the Lisp that defines it. */
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

export type DefinitionKind = (typeof DEFINITION_KINDS)[number];

/** Something that this client's evaluations defined, and that is still there. */
export interface Definition {
  readonly kind: DefinitionKind;
  /** With its package, as code writes it: `MY-APP:PROCESS`, `(SETF MY-APP::SIZE)`; of a method also its qualifiers and specializers. */
  readonly name: string;
  /** It took the place of another definition. */
  readonly redefined: boolean;
  /** Somebody else has redefined it since. */
  readonly changed: boolean;
}

/** What this client's evaluations have left in the image. */
export interface Definitions {
  /** In the order in which they were first defined. */
  readonly definitions: readonly Definition[];
  /** Files and systems that were loaded, in that order; what they define is not listed. */
  readonly loaded: readonly string[];
}

/** Which definitions to list. */
export interface DefinitionsOptions extends QuestionOptions {
  /** Default: all kinds, and what was loaded. */
  readonly kind?: DefinitionKind | undefined;
}

/** Why `reset` left a definition where it is. */
export const LEFT_REASONS = ["kind", "existed", "changed", "extended", "locked"] as const;

/**
 * `kind`: only functions, macros and variables are undefined. `existed`: the name was defined before this client defined it.
 * `changed`: somebody else has redefined it since. `extended`: somebody else has added methods. `locked`: a package lock forbids it.
 */
export type LeftReason = (typeof LEFT_REASONS)[number];

/** What `reset` did. */
export interface ResetReport {
  readonly undefined: readonly Pick<Definition, "kind" | "name">[];
  readonly left: readonly (Pick<Definition, "kind" | "name"> & { readonly reason: LeftReason })[];
  /** Files and systems whose definitions are left. */
  readonly loaded: readonly string[];
  /** Evaluations that were running or stopped and are ended now. */
  readonly aborted: number;
  /** Evaluations that nothing could end: they run without interrupts. */
  readonly stillRunning: number;
}
