import type { CodeNote } from "../calls/compiled-code.js";
import { findUnbalanced, lineText } from "../sources/unbalanced.js";

/** The notes with the parenthesis or quote that is unbalanced in `text`, where the reader has failed in the file that `isOf` recognizes. */
export function locatedNotes(
  notes: readonly CodeNote[],
  text: string,
  isOf: (note: CodeNote) => boolean,
): readonly CodeNote[] {
  return notes.map((note) => (note.severity === "read-error" && isOf(note) ? located(note, text) : note));
}

function located(note: CodeNote, text: string): CodeNote {
  const found = findUnbalanced(text);
  if (found === undefined) return note;
  const { line, column, message } = found;
  const suspects = found.suspects.map((suspect) => ({ line: suspect, text: lineText(text, suspect) }));
  return { ...note, line, column, message, suspects, form: lineText(text, line).slice(column - 1) };
}
