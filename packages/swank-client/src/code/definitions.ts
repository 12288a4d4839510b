import { type Decoded, decode } from "sexp-parser";
import { check, type OptionsOf, question } from "../base/options.js";
import { keywordOf, lispFunction } from "../runtime/function.js";
import type { LispRunner } from "../runtime/runner.js";
import { DEFINITION_KINDS } from "./found.js";

const { boolean, integer, list, map, record, string } = decode;

/** Milliseconds that the image has to answer; a long compilation delays the answer. */
const SESSION_TIME = 30_000;

const definitionKind = keywordOf(DEFINITION_KINDS);

const named = {
  kind: definitionKind,
  /** With its package, as code writes it: `MY-APP:PROCESS`, `(SETF MY-APP::SIZE)`; for a method also its qualifiers and specializers. */
  name: string,
};

const definition = record({
  ...named,
  /** True if another client or a file has since redefined it. */
  changed: map(keywordOf(["current", "changed"]), (state) => state === "changed"),
  /** True if it replaced another definition. */
  redefined: boolean,
  /** True if a file has its text: `saveChanges` has written it there, or this client has loaded the file. */
  saved: boolean,
});

/** A definition made by this client's evaluations that still exists. */
export interface Definition extends Decoded<typeof definition> {}

const loaded = record({
  kind: keywordOf(["file", "system"]),
  /** The source file, also of a compiled file that was loaded; or the name of the system, in lower case. */
  name: string,
  /** How often a file was loaded. */
  times: integer,
});

/** A file or system that this client's evaluations have loaded. */
export interface Loaded extends Decoded<typeof loaded> {}

/** `(((KIND NAME STATE REDEFINED SAVED) ...) ((KIND NAME TIMES) ...))` */
const allDefinitions = record({
  /** In the order in which they were first defined. */
  definitions: list<Definition>(definition),
  /**
   * All source files that were loaded, also by other files and by systems, and the systems that forms have loaded by name, in the order of
   * loading. Their definitions are not listed. Definitions of systems (`.asd`), and compiled files without their source, are omitted.
   */
  loaded: list<Loaded>(loaded),
});

/** Everything this client's evaluations have defined and loaded. */
export interface Definitions extends Decoded<typeof allDefinitions> {}

export const definitionsOptions = {
  ...question,
  /** Default: all kinds, and loaded files and systems. */
  kind: check.choice(DEFINITION_KINDS),
};

/** Which definitions to list. */
export interface DefinitionsOptions extends OptionsOf<typeof definitionsOptions> {}

/** Lists what the client's evaluations have defined and loaded (lisp/image/reset.lisp). */
const definitions = lispFunction({
  name: "definitions",
  module: "image",
  decode: allDefinitions,
  timeout: SESSION_TIME,
  label: () => "listing definitions",
});

/** The definitions of a kind, or everything that was defined and loaded. */
export async function listDefinitions(lisp: LispRunner, { kind }: DefinitionsOptions): Promise<Definitions> {
  const all = await lisp.run(definitions);
  if (kind === undefined) return all;
  return { definitions: all.definitions.filter((definition) => definition.kind === kind), loaded: [] };
}

/**
 * Why `reset` kept a definition. `kind`: `reset` undefines only functions, macros and variables. `existed`: the name was defined before this
 * client defined it. `changed`: another client or a file redefined it. `extended`: other code added methods. `locked`: a package lock forbids it.
 */
const LEFT_REASONS = ["kind", "existed", "changed", "extended", "locked"] as const;

/** One of `LEFT_REASONS`. */
export type LeftReason = (typeof LEFT_REASONS)[number];

/** `(((KIND NAME) ...) ((KIND NAME REASON) ...) ((KIND NAME TIMES) ...) PACKAGE)` */
const resetAnswer = record({
  undefined: list(record(named)),
  left: list(record({ ...named, reason: keywordOf(LEFT_REASONS) })),
  /** Files and systems whose definitions were kept. */
  loaded: list<Loaded>(loaded),
  package: string,
});

/** The result of `reset`. */
export interface ResetReport extends Omit<Decoded<typeof resetAnswer>, "package"> {
  /** The new session's package. Absent if the image had no session to reset. */
  readonly package?: string;
  /** Number of running or stopped evaluations that were aborted. */
  readonly aborted: number;
  /** Number of evaluations that could not be aborted because they run without interrupts. */
  readonly stillRunning: number;
}

/** Undefines names that only the client's evaluations have defined, and starts a new session (lisp/image/reset.lisp). */
export const reset = lispFunction({
  name: "reset",
  module: "image",
  ability: "evaluate",
  decode: resetAnswer,
  timeout: SESSION_TIME,
  label: () => "resetting the session",
});
