import { Features } from "./features.js";
import { tokenAt } from "./token.js";
import { TreeBuilder } from "./tree-builder.js";
import type { SourceTree } from "./types.js";

/** Options of {@link readWithPositions}. */
export interface SourceOptions {
  /**
   * The features of the Lisp that decide `#+` and `#-`, such as `["sbcl", "x86-64"]`, in any case. Default: unknown; a
   * conditional then stays opaque, unless its expression holds or fails with any features, as `#+(or)` does.
   */
  readonly features?: Iterable<string> | undefined;
}

/**
 * Reads source text into a concrete syntax tree: all data, comments and blanks, each with its start and end.
 *
 * `printSource` turns the tree back into exactly the text. What only a Lisp can read (`#.form`, labels, unknown `#`
 * syntaxes, undecided conditionals) becomes opaque data; its parts are still in the tree. Inside excluded and undecided
 * conditionals, atoms and literals that this reader refuses become opaque, too. Takes linear time, at any depth.
 *
 * @throws {SexpError} with the code of what is wrong in the text
 */
export function readWithPositions(text: string, options: SourceOptions = {}): SourceTree {
  const builder = new TreeBuilder(text, new Features(options.features));
  for (let start = 0; start < text.length; ) {
    const token = tokenAt(text, start);
    builder.add(token, start);
    start = token.end;
  }
  return builder.finish();
}
