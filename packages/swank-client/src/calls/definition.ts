import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";

const { integer, map, string, tuple } = decode;

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

const LOADED_KINDS = ["file", "system"] as const;

/** A file or system that this client's evaluations have loaded. */
export interface Loaded {
  readonly kind: (typeof LOADED_KINDS)[number];
  /** The source file, also of a compiled file that was loaded; or the name of the system, in lower case. */
  readonly name: string;
  /** How often a file was loaded. */
  readonly times: number;
}

/** Decodes `(KIND NAME TIMES)`. */
export const loaded: Decoder<Loaded> = map(tuple(keywordOf(LOADED_KINDS), string, integer), ([kind, name, times]) => ({
  kind,
  name,
  times,
}));

/** Everything this client's evaluations have defined and loaded. */
export interface Definitions {
  /** In the order in which they were first defined. */
  readonly definitions: readonly Definition[];
  /**
   * All source files that were loaded, also by other files and by systems, and the systems that forms have loaded by name, in the order of
   * loading. Their definitions are not listed. Definitions of systems (`.asd`), and compiled files without their source, are omitted.
   */
  readonly loaded: readonly Loaded[];
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
  readonly loaded: readonly Loaded[];
  /** Number of running or stopped evaluations that were aborted. */
  readonly aborted: number;
  /** Number of evaluations that could not be aborted because they run without interrupts. */
  readonly stillRunning: number;
}
