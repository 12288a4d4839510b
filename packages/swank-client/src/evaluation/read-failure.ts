import { type Position, positionAt, type ScanResult, scan, type UnclosedList } from "sexp-parser";
import type { ErrorSnapshot } from "../calls/condition.js";
import type { ReadFailure } from "../calls/evaluate.js";

/** Completes Lisp's report of a read error with the position, and the forms evaluated before it. */
export function explainReadFailure(code: string, error: ErrorSnapshot, failure: ReadFailure): ErrorSnapshot {
  const where = locate(code, failure);
  if (where === undefined) return error;
  return { ...error, message: `${error.message}\n${where} ${evaluatedBefore(failure.evaluated)}` };
}

/** The position of the error. The scan finds the unbalanced parenthesis or quote; the reader only knows how far it read. */
function locate(code: string, { offset, evaluated }: ReadFailure): string | undefined {
  const unbalanced = evaluated === 0 ? describeUnbalanced(scan(code)) : undefined;
  if (unbalanced !== undefined || offset === undefined) return unbalanced;
  return `${at(positionAt(code, beginning(code, codeUnits(code, offset))))}.`;
}

const DELIMITER = /[\s()"'`,;]/;

/** The start of the last token before `end`, up to which Lisp has read. */
function beginning(code: string, end: number): number {
  let start = end - 1;
  while (start > 0 && !DELIMITER.test(code.charAt(start)) && !DELIMITER.test(code.charAt(start - 1))) start -= 1;
  return Math.max(0, start);
}

function describeUnbalanced(result: ScanResult): string | undefined {
  switch (result.kind) {
    case "balanced":
      return undefined;
    case "unclosed-list":
      return `${at(result.outermost)}: ${describeUnclosed(result)}`;
    case "extra-close":
      return `${at(result.position)}: this parenthesis closes nothing.`;
    case "unterminated":
      return `${at(result.start)}: the ${result.what} that begins here never ends.`;
    case "missing-form":
      return `${at(result.start)}: a form is missing after this prefix.`;
  }
}

function describeUnclosed({ missing, nextForm }: UnclosedList): string {
  const parentheses = missing === 1 ? "a closing parenthesis is" : `${missing} closing parentheses are`;
  const before = nextForm === undefined ? "" : `, probably before line ${nextForm.line}`;
  return `the list that begins here never ends; ${parentheses} missing${before}.`;
}

function at({ line, column }: Position): string {
  return `Line ${line}, column ${column}`;
}

function evaluatedBefore(forms: number): string {
  if (forms === 0) return "Nothing has been evaluated.";
  return forms === 1 ? "The form before it has been evaluated." : `The ${forms} forms before it have been evaluated.`;
}

/** Lisp counts characters, JavaScript UTF-16 code units. */
function codeUnits(text: string, characters: number): number {
  let units = 0;
  for (let count = 0; count < characters && units < text.length; count += 1) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return units;
}
