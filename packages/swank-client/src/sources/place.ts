import type { Place } from "../calls/condition.js";
import type { Source } from "../calls/frames.js";
import type { LocationPosition, SourceLocation } from "../calls/location.js";
import type { DefinitionSource } from "../calls/symbol-description.js";
import type { LispWarning } from "../calls/warning.js";

/** A place in a source: of a compiler note, a definition, a use, a frame, a warning, or the definition of a described symbol. */
export type AnySource = SourceLocation | Source | Place | DefinitionSource | LispWarning;

/** The mark of the current call in the text of a form. */
const HERE = "#:***HERE***";

/**
 * The same place as Swank gives it.
 *
 * @param code - The evaluated code, for warnings about it.
 */
export function locationOf(source: AnySource, code?: string): SourceLocation {
  if ("message" in source) return ofWarning(source, code);
  if ("status" in source) {
    return source.status === "found" && source.place.kind === "form" ? inForm(source.place.text) : source;
  }
  if ("form" in source) return inForm(source.form);
  if ("kind" in source) return inFile(source.file, { kind: "offset", offset: (source.position ?? 0) + 1 });
  if ("path" in source) return inFile(source.path, { kind: "line", line: source.line, column: undefined });
  const { file, line = 1, column = 1 } = source;
  return inFile(file, { kind: "line", line, column: column - 1 });
}

function ofWarning({ position, path }: LispWarning, code: string | undefined): SourceLocation {
  if (position === undefined)
    return { status: "unknown", reason: `Lisp knows no form${path === undefined ? "" : ` in ${path}`}.` };
  if (path !== undefined) return inFile(path, position);
  if (code === undefined)
    return { status: "unknown", reason: "The warning is about the evaluated code, which was not given." };
  return { status: "found", place: { kind: "form", text: code }, position, snippet: undefined };
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
