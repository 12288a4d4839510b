import {
  excerpt,
  type MisclosedLine,
  misclosedLines,
  type Position,
  positionAt,
  type ScanResult,
  scan,
  type UnclosedList,
} from "sexp-parser";
import type { ErrorSnapshot } from "../calls/condition.js";
import type { ReadFailure } from "../calls/evaluate.js";
import { CountedText } from "../sources/counted-text.js";

/** Most lines of the code that a report repeats. */
const MAX_LINES = 3;

/** Completes Lisp's report of a read error with the position, the forms evaluated before it, and names that were probably meant. */
export function explainReadFailure(code: string, error: ErrorSnapshot, failure: ReadFailure): ErrorSnapshot {
  const where = locate(code, failure);
  if (where === undefined) return error;
  const message = `${error.message}\n${where.text} ${evaluatedBefore(failure.evaluated)}`;
  const lines = where.lines.map((line) => lineOf(code, line));
  return { ...error, message: [message, ...lines, ...(failure.hint === undefined ? [] : [failure.hint])].join("\n") };
}

/** The position of an error in words, and the numbers of the lines that have probably caused it, if those are others. */
interface Place {
  readonly text: string;
  readonly lines: readonly number[];
}

/** The position of the error. The scan finds the unbalanced parenthesis or quote; the reader only knows how far it read. */
function locate(code: string, { offset, evaluated }: ReadFailure): Place | undefined {
  const unbalanced = evaluated === 0 ? describeUnbalanced(code, scan(code)) : undefined;
  if (unbalanced !== undefined || offset === undefined) return unbalanced;
  // Lisp counts characters, JavaScript UTF-16 code units
  return only(`${at(positionAt(code, beginning(code, new CountedText(code, () => 1).offsetOf(offset))))}.`);
}

function only(text: string): Place {
  return { text, lines: [] };
}

const DELIMITER = /[\s()"'`,;]/;

/** The start of the last token before `end`, up to which Lisp has read. */
function beginning(code: string, end: number): number {
  let start = end - 1;
  while (start > 0 && !DELIMITER.test(code.charAt(start)) && !DELIMITER.test(code.charAt(start - 1))) start -= 1;
  return Math.max(0, start);
}

function describeUnbalanced(code: string, result: ScanResult): Place | undefined {
  switch (result.kind) {
    case "balanced":
      return undefined;
    case "unclosed-list":
      return describeUnclosed(result, misclosedLines(code));
    case "extra-close":
      return describeExtra(result.position, misclosedLines(code));
    case "unterminated":
      return only(`${at(result.start)}: the ${result.what} that begins here never ends.`);
    case "missing-form":
      return only(`${at(result.start)}: a form is missing after this prefix.`);
  }
}

function describeUnclosed({ missing, outermost }: UnclosedList, lacking: readonly MisclosedLine[]): Place {
  const parentheses = missing === 1 ? "a closing parenthesis is" : `${missing} closing parentheses are`;
  const text = `${at(outermost)}: the list that begins here never ends; ${parentheses} missing`;
  if (lacking.every(({ line }) => line === outermost.line)) return only(`${text}.`);
  const lines = lacking.slice(0, MAX_LINES).map(({ line }) => line);
  return { text: `${text}, probably in line ${lines.join(" and line ")}.`, lines };
}

function describeExtra(position: Position, [first]: readonly MisclosedLine[]): Place {
  const text = `${at(position)}: this parenthesis closes nothing`;
  if (first === undefined || first.line === position.line) return only(`${text}.`);
  const count = first.count === 1 ? "one" : first.count;
  return { text: `${text}; line ${first.line} probably has ${count} too many.`, lines: [first.line] };
}

/** A line of the code with its number. */
function lineOf(code: string, line: number): string {
  const offset = code.split("\n", line - 1).join("\n").length + (line > 1 ? 1 : 0);
  const [text = ""] = excerpt(code, { offset, line, column: 1 }).split("\n");
  return `${line}: ${text}`;
}

function at({ line, column }: Position): string {
  return `Line ${line}, column ${column}`;
}

function evaluatedBefore(forms: number): string {
  if (forms === 0) return "Nothing has been evaluated.";
  return forms === 1 ? "The form before it has been evaluated." : `The ${forms} forms before it have been evaluated.`;
}
