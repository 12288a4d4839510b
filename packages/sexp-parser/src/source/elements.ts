import type { SourceAtom, SourceConditional, SourceList, SourceNode, SourcePrefix, SourceTree } from "./types.js";

/** A node that stands for a datum. */
export type SourceDatum = SourceAtom | SourceList | SourcePrefix | SourceConditional;

/**
 * The nodes of the data directly inside a tree or node, in the order of the text.
 *
 * Blanks, dots and excluded conditionals are left out; an included conditional is replaced by its form.
 */
export function elements(source: SourceTree | SourceNode): readonly SourceDatum[] {
  if (!("children" in source)) return [];
  return source.children.flatMap((child) => dataNode(child) ?? []);
}

function dataNode(node: SourceNode): SourceDatum | undefined {
  let current = isDatum(node) ? node : undefined;
  while (current?.kind === "conditional" && current.isIncluded === true) current = formOf(current);
  return current;
}

/** The last datum inside a conditional; excluded conditionals may stand before it. */
function formOf({ children }: SourceConditional): SourceDatum | undefined {
  return children.filter(isDatum).at(-1);
}

function isDatum(node: SourceNode): node is SourceDatum {
  return "datum" in node && node.datum !== undefined;
}
