import type { LispWarning, Transcript } from "../lisp-port.js";
import { cutTexts } from "./cut.js";

/** How to see warnings whole. */
const WARNINGS_ARE_CUT = "; Cut to fit. Evaluate fewer forms at a time to see their warnings whole.";

/** The sections that stand before a report's values or condition, without the empty ones. */
export function transcriptSections(transcript: Transcript): string[] {
  return [
    ...textSection("stdout", transcript.stdout),
    ...textSection("stderr", transcript.stderr),
    ...textSection("warnings", warningLines(transcript)),
  ];
}

/** What was printed on a stream, under its name; nothing for nothing. */
export function textSection(name: string, text: string): string[] {
  return text === "" ? [] : [`[${name}]\n${text.replace(/\n$/, "")}`];
}

/** Warnings as they are shown, so long that all of them together fit. */
export function cutWarnings(warnings: readonly LispWarning[]): Pick<LispWarning, "type" | "message">[] {
  const messages = cutTexts(warnings.map(({ message }) => message.trim()));
  return warnings.map(({ type }, index) => ({ type, message: messages[index] ?? "" }));
}

function warningLines({ warnings, warningsOmitted }: Transcript): string {
  const shown = cutWarnings(warnings);
  const isCut = shown.some(({ message }, index) => message !== warnings[index]?.message.trim());
  const others = warningsOmitted > 0 ? [`WARNING: [${warningsOmitted} more warnings left out]`] : [];
  return [...shown.map(warningText), ...others, ...(isCut ? [WARNINGS_ARE_CUT] : [])].join("\n");
}

/** Further lines of a message are indented, so that each warning's own line can be told. */
function warningText({ type, message }: Pick<LispWarning, "type" | "message">): string {
  return `${type}: ${message.replaceAll("\n", "\n  ")}`;
}
