import { type Decoded, type Decoder, decode, print, read } from "sexp-parser";
import { check, checkOptions, type OptionsOf } from "../base/options.js";
import { type PreparedCode, taskOptions } from "../evaluation/work.js";
import { keywordOf } from "../runtime/function.js";
import type { LispRunner } from "../runtime/runner.js";
import { type LoadedChanges, loadedForms } from "./changes.js";
import { SOURCE_KINDS } from "./found.js";

const { record, string, tagged } = decode;

const undoOptions = {
  ...taskOptions,
  /** The kind of the definition, as `listChanges` tells it. Default: what the name alone means. */
  kind: check.choice(SOURCE_KINDS),
};

/** Which definition to undo, and how. */
export interface UndoOptions extends OptionsOf<typeof undoOptions> {}

/**
 * Why a definition was not undone.
 *
 * - `undefined`: nothing is defined by the name.
 * - `unchanged`: it is as in its file, or not known to be evaluated.
 * - `ambiguous`: several definitions have the name. The kind, or for a method `(method NAME (SPECIALIZER...))`, tells which is meant.
 * - `kind`: no file has it, and only functions, macros, variables and methods are removed.
 * - `extended`: no file has the generic function, but it has methods that a file has or Lisp made.
 * - `locked`: its package is locked.
 */
const UNDO_REFUSALS = ["undefined", "unchanged", "ambiguous", "kind", "extended", "locked"] as const;

/** One of the reasons why a definition is not undone. */
export type UndoRefusal = (typeof UNDO_REFUSALS)[number];

const removed = record({ kind: keywordOf(SOURCE_KINDS), name: string }, { status: "removed" });

const refused = record({ reason: keywordOf(UNDO_REFUSALS) }, { status: "refused" });

/**
 * What became of a definition. `loaded`: the form of its file was evaluated again. `incomplete`: that was not possible, as `forms` and `notes` say.
 * `removed`: no file has it, so it was removed.
 */
export type UndoneDefinition = LoadedChanges | Decoded<typeof removed> | Decoded<typeof refused>;

/** Decodes the value of `undo-definition` (lisp/changes/undo-definition.lisp). */
const undone: Decoder<UndoneDefinition> = tagged({ loads: loadedForms, removed, refused });

/** Loads the module that undoes definitions, and returns code that calls it. */
export async function undoCode(
  lisp: LispRunner,
  name: string,
  options: UndoOptions,
): Promise<PreparedCode<UndoneDefinition>> {
  checkOptions("undoDefinition", options, undoOptions);
  const wanted = print(check.text("name", name));
  const operator = await lisp.loadedOperator("undo-definition", "changes", options.signal);
  const { kind } = options;
  return {
    code: `(${operator} ${wanted}${kind === undefined ? "" : ` :${kind}`})`,
    result: (value) => undone(read(value)),
  };
}
