import type { LispWarning, Transcript, WarningCount } from "../image/lisp-port.js";
import { cutName, firstOf, oneLine } from "../text/cut.js";

/** Most characters of a line about one warning, and of all such lines: with the numbers, files get at most 2 kB. */
const MAX_LINE = 250;
const MAX_LINES = 1000;
/** Most files in a line of numbers, and characters of a file's name. */
const MAX_FILES = 6;
const MAX_FILE = 40;

/** SBCL's reference to its manual, at the end of a message. */
export const REFERENCE = /\n\s*See also:[\s\S]*$/;

/** The order of the types, the worst first. */
const TYPES = [
  "ERROR",
  "WARNING",
  "STYLE-WARNING",
  "COMPILER-WARNING",
] as const satisfies readonly LispWarning["type"][];

type Warnings = Pick<Transcript, "warnings" | "warningsInFiles">;

/**
 * The lines about the warnings of files that an evaluation loaded. Loading a system can give hundreds: errors and full warnings are shown, then
 * style warnings if there is room for all of them, and the others are counted by file.
 */
export function fileWarningLines({ warnings, warningsInFiles }: Warnings): string[] {
  if (warningsInFiles.length === 0) return [];
  const shown = shownWarnings(warnings, warningsInFiles);
  return [...shown.map(warningLine), ...TYPES.flatMap((type) => countLine(type, leftOf(type, warningsInFiles, shown)))];
}

function shownWarnings(warnings: readonly LispWarning[], counts: readonly WarningCount[]): readonly LispWarning[] {
  const inFiles = warnings.filter(({ file }) => file !== undefined);
  const full = within([...ofType("ERROR", inFiles), ...ofType("WARNING", inFiles)], MAX_LINES);
  const style = ofType("STYLE-WARNING", inFiles);
  const isWhole = style.length === sum(ofType("STYLE-WARNING", counts));
  const rest = within(style, MAX_LINES - lengthOf(full));
  return isWhole && rest.length === style.length ? [...full, ...rest] : full;
}

function within(warnings: readonly LispWarning[], room: number): readonly LispWarning[] {
  const end = warnings.findIndex((_, index) => lengthOf(warnings.slice(0, index + 1)) > room);
  return end < 0 ? warnings : warnings.slice(0, end);
}

function lengthOf(warnings: readonly LispWarning[]): number {
  return warnings.reduce((length, warning) => length + warningLine(warning).length + 1, 0);
}

function warningLine({ type, message, file = "", definition }: LispWarning): string {
  const where = definition === undefined ? "" : `, in ${cutName(definition, MAX_FILE)}`;
  return oneLine(`${type}: ${cutFile(file)}${where}: ${message.replace(REFERENCE, "")}`, MAX_LINE);
}

/** The numbers of one type, without the warnings that are shown. */
function leftOf(type: LispWarning["type"], counts: readonly WarningCount[], shown: readonly LispWarning[]) {
  const left = new Map<string, number>();
  for (const { file, count } of ofType(type, counts)) left.set(file, (left.get(file) ?? 0) + count);
  for (const { file = "" } of ofType(type, shown)) left.set(file, (left.get(file) ?? 0) - 1);
  return [...left].map(([file, count]) => ({ file, count })).filter(({ count }) => count > 0);
}

function countLine(type: string, counts: readonly { readonly file: string; readonly count: number }[]): string[] {
  if (counts.length === 0) return [];
  const { shown, left } = firstOf(
    [...counts].sort((a, b) => b.count - a.count),
    MAX_FILES,
  );
  const files = shown.map(({ file, count }) => `${cutFile(file)} ${count}`);
  const others = left > 0 ? [`${left} other files`] : [];
  return [`${type}: ${sum(counts)} not shown: ${[...files, ...others].join(", ")}`];
}

/** The end of a long path says more than its beginning. */
function cutFile(file: string): string {
  // A name with a newline must not look like another line of the report.
  const line = file.replace(/\s+/g, " ");
  return line.length <= MAX_FILE ? line : `...${line.slice(3 - MAX_FILE)}`;
}

function ofType<T extends { readonly type: LispWarning["type"] }>(type: T["type"], items: readonly T[]): readonly T[] {
  return items.filter((item) => item.type === type);
}

function sum(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}
