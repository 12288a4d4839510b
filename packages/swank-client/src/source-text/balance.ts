import {
  bareCode,
  excerpt,
  type FormSpan,
  type MisclosedLine,
  type MisquotedLine,
  misclosedLines,
  misquotedLine,
  type Position,
  type ScanResult,
  scan,
  type UnclosedList,
} from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check } from "../base/options.js";

/** Most lines of the code that a report repeats. */
const MAX_LINES = 3;

/** The first parenthesis, string, symbol or comment of a text that is not closed, or closes nothing. */
export interface Unbalanced {
  /** Line and column from 1. */
  readonly line: number;
  readonly column: number;
  /** What is wrong, without a full stop. Names the lines in `suspects`. */
  readonly message: string;
  /** At most three lines whose parentheses are probably wrong, if those are others than `line`. */
  readonly suspects: readonly number[];
}

/** Finds what is unbalanced in source code, by the standard readtable. Reads and evaluates nothing. */
export function findUnbalanced(code: string): Unbalanced | undefined {
  const result = scan(code);
  if (result.kind === "balanced") return undefined;
  const misquoted = misquotedLine(code);
  if (misquoted !== undefined) return unquoted(result, misquoted);
  switch (result.kind) {
    case "unclosed-list":
      return unclosed(result, misclosedLines(code));
    case "extra-close":
      return extra(result.position, misclosedLines(code));
    default:
      return unfinished(result);
  }
}

/** A line of the code, cut if it is long. Lines count from 1. */
export function lineText(code: string, line: number): string {
  const offset = code.split("\n", line - 1).join("\n").length + (line > 1 ? 1 : 0);
  const [text = ""] = excerpt(code, { offset, line, column: 1 }).split("\n");
  return text;
}

function unclosed({ missing, outermost }: UnclosedList, lacking: readonly MisclosedLine[]): Unbalanced {
  const parentheses = missing === 1 ? "a closing parenthesis is" : `${missing} closing parentheses are`;
  const message = `the list that begins here never ends; ${parentheses} missing`;
  if (lacking.every(({ line }) => line === outermost.line)) return problem(outermost, message);
  const lines = lacking.slice(0, MAX_LINES).map(({ line }) => line);
  return problem(outermost, `${message}, probably in line ${lines.join(" and line ")}`, lines);
}

function extra(position: Position, [first]: readonly MisclosedLine[]): Unbalanced {
  const message = "this parenthesis closes nothing";
  if (first === undefined || first.line === position.line) return problem(position, message);
  const count = first.count === 1 ? "one" : first.count;
  return problem(position, `${message}; line ${first.line} probably has ${count} too many`, [first.line]);
}

function unfinished(result: Extract<ScanResult, { kind: "unterminated" | "missing-form" }>): Unbalanced {
  if (result.kind === "missing-form") return problem(result.start, "a form is missing after this prefix");
  return problem(result.start, `the ${result.what} that begins here never ends`);
}

function unquoted(result: Exclude<ScanResult, { kind: "balanced" }>, { line, mark }: MisquotedLine): Unbalanced {
  const found = described(result);
  if (found.line === line) return found;
  const name = mark === '"' ? "double quote" : "vertical bar";
  return problem(found, `${found.message}; a ${name} is probably missing in line ${line}, or is one too many`, [line]);
}

function described(result: Exclude<ScanResult, { kind: "balanced" }>): Unbalanced {
  switch (result.kind) {
    case "unclosed-list":
      return unclosed(result, []);
    case "extra-close":
      return extra(result.position, []);
    default:
      return unfinished(result);
  }
}

function problem(
  { line, column }: { readonly line: number; readonly column: number },
  message: string,
  suspects: readonly number[] = [],
): Unbalanced {
  return { line, column, message, suspects };
}

/**
 * The code with the parentheses that its indentation says: those that it lacks, at the ends of the lines that lack them, or without those that are too many
 * there. For a person or program to look at: indentation can be wrong, too.
 *
 * @returns `undefined` for balanced code, and where the indentation does not explain what is wrong, such as a quotation mark.
 */
export function rebalanced(code: string): string | undefined {
  const { kind } = scan(code);
  if ((kind !== "unclosed-list" && kind !== "extra-close") || misquotedLine(code) !== undefined) return undefined;
  const bare = bareCode(code, false);
  const lines = code.split("\n");
  const bareLines = bare.split("\n");
  for (const { line, count } of misclosedLines(code)) {
    const text = lines[line - 1] ?? "";
    const end = (bareLines[line - 1] ?? "").trimEnd().length;
    const before = text.slice(0, end);
    const mended =
      kind === "unclosed-list" ? before + ")".repeat(count) : before.replace(new RegExp(`\\){${count}}$`), "");
    if (mended === before) return undefined;
    lines[line - 1] = mended + text.slice(end);
    bareLines[line - 1] = mended;
  }
  const result = lines.join("\n");
  return scan(result).kind === "balanced" ? result : undefined;
}

/** How far code is complete. */
export interface CodeOutline {
  /** `unfinished`: more text could complete it; `surplus`: it has a closing parenthesis too many, and no text can mend that. */
  readonly state: "complete" | "unfinished" | "surplus";
  /** The top-level forms that are complete, with their places. */
  readonly forms: readonly FormSpan[];
}

/** Determines whether code is complete, and the positions of its forms, by the standard readtable. For programs that read code line by line. */
export function outlineCode(code: string): CodeOutline {
  const { kind, forms } = scan(code);
  if (kind === "balanced") return { state: "complete", forms };
  return { state: kind === "extra-close" ? "surplus" : "unfinished", forms };
}

/** @throws SwankError `INVALID_ARGUMENT` unless `code` is source code whose parentheses and quotes are balanced. */
export function checkBalanced(name: string, code: string): void {
  check.text(name, code);
  const unbalanced = findUnbalanced(code);
  if (unbalanced === undefined) return;
  const { line, column, message } = unbalanced;
  throw new SwankError("INVALID_ARGUMENT", `${name}, line ${line}, column ${column}: ${message}.`, {
    remedy: "Correct the code. Nothing was evaluated.",
  });
}
