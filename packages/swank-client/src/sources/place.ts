import type { Source } from "../calls/frames.js";
import type { LocationPosition, SourceLocation } from "../calls/location.js";
import type { DefinitionSource } from "../calls/symbol-description.js";

/** A place in a source: of a compiler note, a definition, a use, a frame, or the definition of a described symbol. */
export type AnySource = SourceLocation | Source | DefinitionSource;

/** The mark of the current call in the text of a form. */
const HERE = "#:***HERE***";

/** The same place as Swank gives it. */
export function locationOf(source: AnySource): SourceLocation {
  if ("status" in source) {
    return source.status === "found" && source.place.kind === "form" ? inForm(source.place.text) : source;
  }
  if ("form" in source) return inForm(source.form);
  if ("kind" in source) return inFile(source.file, { kind: "offset", offset: (source.position ?? 0) + 1 });
  const { file, line = 1, column = 1 } = source;
  return inFile(file, { kind: "line", line, column: column - 1 });
}

function inFile(path: string, position: LocationPosition): SourceLocation {
  return { status: "found", place: { kind: "file", path }, position, snippet: undefined };
}

/** The place of the mark, or the beginning. */
function inForm(text: string): SourceLocation {
  const before = Array.from(text.slice(0, Math.max(0, text.indexOf(HERE))));
  const position = { kind: "offset", offset: before.length + 1 } as const;
  return { status: "found", place: { kind: "form", text }, position, snippet: undefined };
}
