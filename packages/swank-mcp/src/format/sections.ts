import type { LispWarning, Transcript } from "../lisp-port.js";
import { cutText } from "./cut.js";

/** The sections that stand before a report's values or condition, without the empty ones. */
export function transcriptSections(transcript: Transcript): string[] {
  return [
    ...textSection("stdout", transcript.stdout),
    ...textSection("stderr", transcript.stderr),
    ...textSection("warnings", transcript.warnings.map(warningText).join("\n")),
  ];
}

function textSection(name: string, text: string): string[] {
  return text === "" ? [] : [`[${name}]\n${text.replace(/\n$/, "")}`];
}

/** Further lines of a message are indented, so that each warning's own line can be told. */
function warningText(warning: LispWarning): string {
  const message = cutText(warning.message.trim()).replaceAll("\n", "\n  ");
  return `${warning.type}: ${message}`;
}
