import type { LispWarning, Transcript } from "../lisp-port.js";
import { cutText, more } from "./cut.js";

/** Most warnings that a report shows; a bad file can give thousands. */
const MAX_WARNINGS = 50;

/** The sections that stand before a report's values or condition, without the empty ones. */
export function transcriptSections(transcript: Transcript): string[] {
  return [
    ...textSection("stdout", transcript.stdout),
    ...textSection("stderr", transcript.stderr),
    ...textSection("warnings", warningLines(transcript.warnings).join("\n")),
  ];
}

function textSection(name: string, text: string): string[] {
  return text === "" ? [] : [`[${name}]\n${text.replace(/\n$/, "")}`];
}

function warningLines(warnings: readonly LispWarning[]): string[] {
  const shown = warnings.slice(0, MAX_WARNINGS).map(warningText);
  const left = warnings.length - shown.length;
  return left > 0 ? [...shown, more(left, "warning")] : shown;
}

/** Further lines of a message are indented, so that each warning's own line can be told. */
function warningText(warning: LispWarning): string {
  const message = cutText(warning.message.trim()).replaceAll("\n", "\n  ");
  return `${warning.type}: ${message}`;
}
