import { positionAt } from "sexp-parser";
import type { ErrorSnapshot } from "../calls/condition.js";
import type { ReadFailure } from "../calls/evaluate.js";
import { CountedText } from "../sources/counted-text.js";
import { findUnbalanced, lineText } from "../sources/unbalanced.js";

/** Completes Lisp's report of a read error with the position, the forms evaluated before it, and names that were probably meant. */
export function explainReadFailure(code: string, error: ErrorSnapshot, failure: ReadFailure): ErrorSnapshot {
  const where = locate(code, failure);
  if (where === undefined) return error;
  const message = `${error.message}\n${where.text} ${evaluatedBefore(failure.evaluated)}`;
  const lines = where.lines.map((line) => `${line}: ${lineText(code, line)}`);
  return { ...error, message: [message, ...lines, ...(failure.hint === undefined ? [] : [failure.hint])].join("\n") };
}

/** The position of an error in words, and the numbers of the lines that have probably caused it, if those are others. */
interface Place {
  readonly text: string;
  readonly lines: readonly number[];
}

/** The position of the error. The scan finds the unbalanced parenthesis or quote; the reader only knows how far it read. */
function locate(code: string, { offset, evaluated }: ReadFailure): Place | undefined {
  const unbalanced = evaluated === 0 ? findUnbalanced(code) : undefined;
  if (unbalanced !== undefined)
    return { text: `${at(unbalanced)}: ${unbalanced.message}.`, lines: unbalanced.suspects };
  if (offset === undefined) return undefined;
  // Lisp counts characters, JavaScript UTF-16 code units
  const position = positionAt(code, beginning(code, new CountedText(code, () => 1).offsetOf(offset)));
  return { text: `${at(position)}.`, lines: [] };
}

function at({ line, column }: { readonly line: number; readonly column: number }): string {
  return `Line ${line}, column ${column}`;
}

const DELIMITER = /[\s()"'`,;]/;

/** The start of the last token before `end`, up to which Lisp has read. */
function beginning(code: string, end: number): number {
  let start = end - 1;
  while (start > 0 && !DELIMITER.test(code.charAt(start)) && !DELIMITER.test(code.charAt(start - 1))) start -= 1;
  return Math.max(0, start);
}

function evaluatedBefore(forms: number): string {
  if (forms === 0) return "Nothing has been evaluated.";
  return forms === 1 ? "The form before it has been evaluated." : `The ${forms} forms before it have been evaluated.`;
}
