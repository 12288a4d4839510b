import type { LispWarning, Transcript } from "../image/lisp-port.js";
import { cutName, cutTexts } from "../text/cut.js";
import { fileWarningLines } from "./file-warnings.js";

/** How to see whole warnings. */
const WARNINGS_ARE_CUT = "; Cut to fit. Evaluate fewer forms at a time to see their complete warnings.";

/** The sections before a report's values or condition; empty sections are omitted. */
export function transcriptSections(transcript: Transcript): string[] {
  return [
    ...textSection("stdout", transcript.stdout),
    ...textSection("stderr", transcript.stderr),
    ...textSection("warnings", warningLines(transcript)),
  ];
}

/** Output under its stream's name; no section for no output. */
export function textSection(name: string, text: string): string[] {
  return text === "" ? [] : [`[${name}]\n${text.replace(/\n$/, "")}`];
}

/** Warnings as shown, cut so that all of them fit together. */
export function cutWarnings(warnings: readonly LispWarning[]): Pick<LispWarning, "type" | "message" | "file">[] {
  const messages = cutTexts(warnings.map(({ message }) => message.trim()));
  return warnings.map(({ type, file }, index) => ({
    type,
    message: messages[index] ?? "",
    ...(file === undefined ? {} : { file: cutName(file) }),
  }));
}

function warningLines({ warnings, warningsInFiles, warningsOmitted }: Transcript): string {
  if (warnings.length === 0 && warningsInFiles.length === 0 && warningsOmitted === 0) return "";
  const own = warnings.filter(({ file }) => file === undefined);
  const shown = cutWarnings(own);
  const isCut = shown.some(({ message }, index) => message !== own[index]?.message.trim());
  const others = warningsOmitted > 0 ? [`WARNING: [${warningsOmitted} more warnings left out]`] : [];
  return [
    ...shown.map(warningText),
    ...others,
    ...(isCut ? [WARNINGS_ARE_CUT] : []),
    ...fileWarningLines({ warnings, warningsInFiles }),
  ].join("\n");
}

/** A warning with the further lines of its message indented, so that each warning's first line stands out. */
function warningText({ type, message }: Pick<LispWarning, "type" | "message">): string {
  return `${type}: ${message.replaceAll("\n", "\n  ")}`;
}
