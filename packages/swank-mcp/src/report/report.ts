import type { types } from "swank-client";
import { EVERY_TOOL, type JsonObject, type ToolGuide } from "../base/answer.js";
import type { ApartOutput } from "../session/apart-output.js";
import type { Conclusion, ConditionEnding, Ending, ValuesEnding } from "../session/conclusion.js";
import {
  cut,
  cutName,
  cutStart,
  cutText,
  cutTexts,
  fairShare,
  fileName,
  firstOf,
  firstTexts,
  fitting,
  groupedBy,
  more,
  oneLine,
  valuesCost,
} from "../text/cut.js";
import { reportBacktrace } from "./stop.js";

/** Most characters of a line about one warning, and of all such lines: with the numbers, files get at most 2 kB. */
const MAX_LINE = 250;

const MAX_LINES = 1000;

/** Most files in a line of numbers, and characters of a file's name. */
const MAX_FILES = 6;

const MAX_FILE = 40;

export const REFERENCE = /\n\s*See also:[\s\S]*$/;

const TYPES = [
  "ERROR",
  "WARNING",
  "STYLE-WARNING",
  "COMPILER-WARNING",
] as const satisfies readonly types.LispWarning["type"][];

type Warnings = Pick<types.Transcript, "warnings" | "warningsInFiles">;

/**
 * The lines about the warnings of files that an evaluation loaded. Loading a system can give hundreds: errors and full warnings are shown, then
 * style warnings if there is room for all of them, and the others are counted by file.
 */
function fileWarningLines({ warnings, warningsInFiles }: Warnings): string[] {
  if (warningsInFiles.length === 0) return [];
  const shown = shownWarnings(warnings, warningsInFiles);
  return [...shown.map(warningLine), ...TYPES.flatMap((type) => countLine(type, leftOf(type, warningsInFiles, shown)))];
}

function shownWarnings(
  warnings: readonly types.LispWarning[],
  counts: readonly types.WarningCount[],
): readonly types.LispWarning[] {
  const inFiles = warnings.filter(({ file }) => file !== undefined);
  const full = fitting([...ofType("ERROR", inFiles), ...ofType("WARNING", inFiles)], MAX_LINES, lengthOf);
  const style = ofType("STYLE-WARNING", inFiles);
  const isWhole = style.length === sum(ofType("STYLE-WARNING", counts));
  const room = full.reduce((left, warning) => left - lengthOf(warning), MAX_LINES);
  const rest = fitting(style, room, lengthOf);
  return isWhole && rest.length === style.length ? [...full, ...rest] : full;
}

function lengthOf(warning: types.LispWarning): number {
  return warningLine(warning).length + 1;
}

function warningLine({ type, message, file = "", definition }: types.LispWarning): string {
  const where = definition === undefined ? "" : `, in ${cutName(definition, MAX_FILE)}`;
  return oneLine(`${type}: ${cutFile(file)}${where}: ${message.replace(REFERENCE, "")}`, MAX_LINE);
}

/** The numbers of one type, without the warnings that are shown. */
function leftOf(
  type: types.LispWarning["type"],
  counts: readonly types.WarningCount[],
  shown: readonly types.LispWarning[],
) {
  const left = new Map<string, number>();
  for (const { file, count } of ofType(type, counts)) left.set(file, (left.get(file) ?? 0) + count);
  for (const { file = "" } of ofType(type, shown)) left.set(file, (left.get(file) ?? 0) - 1);
  return [...left].map(([file, count]) => ({ file, count })).filter(({ count }) => count > 0);
}

function countLine(type: string, counts: readonly { readonly file: string; readonly count: number }[]): string[] {
  if (counts.length === 0) return [];
  return [`${type}: ${sum(counts)} not shown: ${byFile(counts, MAX_FILES, cutFile)}`];
}

/** The end of a long path says more than its beginning. */
function cutFile(file = ""): string {
  // A name with a newline must not look like another line of the report.
  return cutStart(file.replace(/\s+/g, " "), MAX_FILE);
}

function ofType<T extends { readonly type: types.LispWarning["type"] }>(
  type: T["type"],
  items: readonly T[],
): readonly T[] {
  return items.filter((item) => item.type === type);
}

function sum(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}

const WARNINGS_ARE_CUT = "; Cut to fit. Evaluate fewer forms at a time to see their complete warnings.";

/** The sections before a report's values or condition; empty sections are omitted. */
export function transcriptSections(transcript: types.Transcript): string[] {
  return [
    ...textSection("stdout", transcript.stdout),
    ...textSection("stderr", transcript.stderr),
    ...textSection("warnings", warningLines(transcript)),
  ];
}

export function textSection(name: string, text: string): string[] {
  return text === "" ? [] : [`[${name}]\n${text.replace(/\n$/, "")}`];
}

function warningLines({ warnings, warningsInFiles, warningsOmitted }: types.Transcript): string {
  if (warnings.length === 0 && warningsInFiles.length === 0 && warningsOmitted === 0) return "";
  const own = warnings
    .filter(({ file }) => file === undefined)
    .map(({ type, message }) => ({ type, message: message.trim() }));
  const messages = cutTexts(own.map(({ message }) => message));
  const isCut = own.some(({ message }, index) => message !== messages[index]);
  return [
    // Further lines of a message are indented, so that each warning's first line stands out.
    ...own.map(({ type }, index) => `${type}: ${messages[index]?.replaceAll("\n", "\n  ")}`),
    ...(warningsOmitted > 0 ? [`WARNING: [${warningsOmitted} more warnings left out]`] : []),
    ...(isCut ? [WARNINGS_ARE_CUT] : []),
    ...fileWarningLines({ warnings, warningsInFiles }),
  ].join("\n");
}

/** Says how much of a value is shown, e.g. `200 of 1000 elements shown`; `undefined` if only parts of the value are cut. */
function cutNote({ by, shown, total }: types.Cut): string | undefined {
  if (shown === undefined) return undefined;
  if (total === undefined)
    return by.includes("characters") ? `cut at ${shown} characters` : `${shown} elements shown; the list is circular`;
  return `${shown} of ${total} ${by.includes("characters") ? "characters" : "elements"} shown`;
}

/** The values of an ending, each with the note on what it does not show. */
export function notedValues({ values, cutValues }: Pick<ValuesEnding, "values" | "cutValues">): readonly string[] {
  if (cutValues.length === 0) return values;
  const notes = new Map(cutValues.map((cut) => [cut.index, cutNote(cut)]));
  return values.map((value, index) => withNote(value, notes.get(index)));
}

/** The value of a variable, and what it leaves out. The text of a cut string says so itself, as the contract has no line for it. */
export function shownValue({ text, cut }: types.PrintedValue): {
  readonly text: string;
  readonly leftOut: string | undefined;
} {
  const note = cut && cutNote(cut);
  const isString = cut?.total !== undefined && cut.by.includes("characters");
  return isString ? { text: withNote(text, note), leftOut: undefined } : { text, leftOut: note };
}

function withNote(value: string, note: string | undefined): string {
  return note === undefined ? value : `${value} [${note}]`;
}

/** How to get the whole values: Lisp keeps those of the last form, as in any REPL. */
const VALUES_ARE_CUT = "; Cut to fit. In the next call the list / holds the whole values: (nth 0 /) is the first.";

/** The same for values of code in a frame, which no variable keeps. */
const FRAME_VALUES_ARE_CUT = "; Cut to fit. (nth-value 0 FORM) in the frame gives the first value alone, more of it.";

/** Characters of standard output beside which a NIL says nothing: the code printed. */
const MUCH_OUTPUT = 1000;

type Report = Pick<Conclusion, "transcript" | "ending">;

/** The text of evaluate-lisp and of tools that resume an evaluation (contract condition-report). Blank lines separate sections. */
export function reportText({ transcript, ending }: Report, maxValue?: number, guide: ToolGuide = EVERY_TOOL): string {
  const ends = onlyPrinted(transcript, ending) ? [] : endingSections(ending, valuesCost(maxValue), guide);
  return [...transcriptSections(transcript), ...ends].join("\n\n");
}

/** Whether the code printed much, and returned only the NIL of the form that printed. */
function onlyPrinted({ stdout }: types.Transcript, ending: Ending): boolean {
  if (ending.kind !== "values" || stdout.length < MUCH_OUTPUT) return false;
  return ending.count === 1 && ending.values[0] === "NIL";
}

function endingSections(ending: Ending, maxCost: number, guide: ToolGuide): string[] {
  if (ending.kind === "values") return [valueLines(ending, maxCost)];
  if (ending.kind === "aborted")
    return [ending.byReset ? "; Evaluation aborted: the session was reset" : "; Evaluation aborted"];
  return ending.kind === "underway" ? [`; ${ending.text}`] : conditionSections(ending, guide);
}

function valueLines(ending: ValuesEnding, maxCost: number): string {
  const { count, forms } = ending;
  const values = notedValues(ending);
  if (values.length === 0) return "; No values";
  const shown = cutTexts(values, maxCost);
  const isCut = values.length > 1 && shown.some((text, index) => text !== values[index]);
  const some = count > values.length ? [`[${values.length} of ${count} values shown]`] : [];
  const advice = forms === undefined ? FRAME_VALUES_ARE_CUT : VALUES_ARE_CUT;
  return [...[...shown, ...some].map((value) => `=> ${value}`), ...(isCut ? [advice] : [])].join("\n");
}

function conditionSections({ tag, error }: ConditionEnding, guide: ToolGuide): string[] {
  const backtrace = reportBacktrace(error, guide);
  const heading = `[${tag}] ${cutName(error.type)}\n${cutText(error.message)}`;
  return backtrace === "" ? [heading] : [heading, backtrace];
}

const MAX_BREAKPOINTS = 5;

const MAX_NAME = 100;

/** Lines for breakpoints that the evaluation should have reached, with the reason. A function without a call has one line for all of its breakpoints. */
function idleLines(idle: readonly types.IdleBreakpoint[]): string[] {
  const { shown, left } = firstOf(idle, MAX_BREAKPOINTS);
  const together = groupedBy(shown, (idle) => (uncalled(idle) ? idle.function : String(idle.id)));
  return [...[...together.values()].map(idleLine), ...(left > 0 ? [`${more(left, "breakpoint")} not hit`] : [])];
}

export function idleData(idle: readonly types.IdleBreakpoint[]): JsonObject {
  if (idle.length === 0) return {};
  return { idle_breakpoints: idle.map(({ id, function: name, calls, hits }) => ({ id, function: name, calls, hits })) };
}

function idleLine(breakpoints: readonly [types.IdleBreakpoint, ...types.IdleBreakpoint[]]): string {
  const [first] = breakpoints;
  const place = `${breakpoints.map(({ id }) => id).join(", ")} on ${cutName(first.function, MAX_NAME)}`;
  const reason = idleReason(first);
  return breakpoints.length === 1
    ? `Breakpoint ${place} ${reason}.`
    : `Breakpoints ${place} ${reason.replace("was", "were")}.`;
}

function uncalled({ calls, callsElsewhere, hits, lost, stoppedBefore }: types.IdleBreakpoint): boolean {
  return !lost && !stoppedBefore && hits === 0 && calls === 0 && callsElsewhere === 0;
}

function idleReason({
  calls,
  callsElsewhere,
  stoppedBefore,
  hits,
  hitCount,
  lost,
  missed,
}: types.IdleBreakpoint): string {
  if (lost) return "is lost: its function was undefined or replaced";
  if (hits > 0) return `has not fired yet: ${hits} of ${hitCount} hits`;
  if (calls > 0)
    return `was not hit: its condition was false at ${calls === 1 ? "the only call" : `all ${calls} calls`} that reached it`;
  if (stoppedBefore)
    return "was not hit: a call stopped at another breakpoint on the function, and no call that it watches has reached it";
  if (callsElsewhere > 0)
    return `was not hit: it was only called in threads that it does not watch, or by code of the debugger or of a breakpoint (${callsElsewhere})`;
  return missed === undefined
    ? "was not hit: it was not called by name"
    : `was not hit: no call reached it. ${missed.replace(/\.$/, "")}`;
}

const MAX_CONDITION_LINES = 20;

const MAX_MESSAGE = 120;

/** Lisp's name for the evaluated forms. */
const TOP_LEVEL = "top level";

/** Lines for the conditions that an evaluation signalled, in the order in which each was first signalled. */
function conditionLines(conditions: types.SignalledConditions | undefined): string[] {
  if (conditions === undefined) return [];
  const { entries, others, internal } = conditions;
  const { shown } = firstOf(entries, MAX_CONDITION_LINES);
  const left = total(entries.slice(MAX_CONDITION_LINES)) + others;
  return [
    entries.length === 0 ? "Conditions: none" : `Conditions: ${total(entries) + others}`,
    ...shown.map(conditionLine),
    ...(left > 0 ? [`  ... ${left} others`] : []),
    ...(internal > 0 ? [`  (and ${internal} that Lisp's own functions handled)`] : []),
  ];
}

export function conditionsData(conditions: types.SignalledConditions | undefined): JsonObject {
  if (conditions === undefined) return {};
  const { entries, others, internal } = conditions;
  return {
    conditions: entries,
    ...(others > 0 ? { conditions_left_out: others } : {}),
    ...(internal > 0 ? { conditions_in_lisp: internal } : {}),
  };
}

function total(entries: readonly types.SignalledCondition[]): number {
  return entries.reduce((sum, { count }) => sum + count, 0);
}

function conditionLine(entry: types.SignalledCondition): string {
  const { type, messages, moreMessages, count } = entry;
  const times = count === 1 ? "" : ` (${count} times)`;
  const texts = [...messages.map((message) => oneLine(message, MAX_MESSAGE)), ...(moreMessages ? ["..."] : [])];
  const text = texts.length === 0 ? "" : `: ${texts.join(" | ")}`;
  return `  ${cutName(type, MAX_NAME)}${placeText(entry)}, ${handlerText(entry)}${times}${text}`;
}

function placeText({ place, caller }: types.SignalledCondition): string {
  if (place === undefined) return "";
  return caller === undefined ? withinCode(place) : `${withinCode(place)}, called${withinCode(caller, "by")}`;
}

function handlerText({ clause, handler }: types.SignalledCondition): string {
  if (handler === undefined) return "not handled";
  return `taken by ${clause === undefined ? "a handler" : `clause ${cutName(clause, MAX_NAME)}`}${withinCode(handler)}`;
}

function withinCode(name: string, preposition = "in"): string {
  return name === TOP_LEVEL ? ` at ${TOP_LEVEL}` : ` ${preposition} ${cutName(name, MAX_NAME)}`;
}

/** Most names in a line, files in a line, and characters of a name. */
const MAX_NAMES = 12;

const MAX_NOTE_FILES = 8;

/** Most redefinitions by files that are named; more are counted by file. */
const FEW = 8;

/** Longest time in milliseconds that is not mentioned. */
const SHORT = 1000;

type Noted = Pick<Conclusion, "transcript" | "ending">;

/** Lines for the second block of a report: facts about the evaluation that are neither output nor warnings. */
export function noteLines({ transcript, ending }: Noted, guide?: ToolGuide): string[] {
  return [
    ...redefinitionLines(transcript.redefinitions, guide),
    ...(ending.kind === "values" ? [...unshownLines(ending), ...idleLines(ending.idleBreakpoints ?? [])] : []),
    ...conditionLines(transcript.conditions),
    ...timeLines(transcript.milliseconds, ending),
  ];
}

/** The forms whose values are not shown, and the variables in which Lisp keeps the latest of these values. */
function unshownLines({ forms: { count, unshown } = { count: 0, unshown: [] } }: ValuesEnding): string[] {
  if (unshown.length === 0) return [];
  const numbers = `form${unshown.length > 1 ? "s" : ""} ${listed(unshown.map(String), unshown.length)}`;
  const kept = ["//", "///"].flatMap((variable, index) => {
    const form = count - 1 - index;
    return unshown.includes(form) ? [`${variable} (form ${form})`] : [];
  });
  const where = kept.length === 0 ? "" : ` Kept for the next call: ${kept.join(", ")}.`;
  return [`Not shown: the values of ${numbers}.${where}`];
}

/** The time of a long evaluation. The message of a timeout already says it. */
function timeLines(milliseconds: number | undefined, ending: Ending): string[] {
  if (milliseconds === undefined || milliseconds <= SHORT) return [];
  if (ending.kind === "condition" && ending.tag === "TIMEOUT") return [];
  return [`Time: ${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`];
}

/** What was redefined, the code that still uses old macros and functions, and the threads that are inside old definitions. */
export function redefinitionLines(
  { count, files, stale, inside }: types.Redefinitions,
  guide: ToolGuide | undefined,
): string[] {
  const [own, loaded] = [
    files.filter(({ file }) => file === undefined),
    files.filter(({ file }) => file !== undefined),
  ];
  const left = count - files.reduce((sum, each) => sum + each.count, 0);
  const inFiles = loaded.reduce((sum, each) => sum + each.count, left);
  return [
    ...own.map(({ names }) => `Redefined: ${listed(names, names.length)}`),
    ...(inFiles > FEW
      ? [`${inFiles} redefinitions: ${byFile(loaded, MAX_NOTE_FILES, fileName)}`]
      : loaded.map(({ file, names }) => `Redefined by ${fileName(file)}: ${listed(names, names.length)}`)),
    ...stale.map(
      ({ name, count: users, users: names }) =>
        `Compiled with the old ${cutName(name, MAX_NAME)}: ${listed(names, users)} (evaluate their definitions again${againText(guide)})`,
    ),
    ...insideLines(inside),
  ];
}

/** How to evaluate definitions again from their files, if the client can. The console's command takes no names. */
function againText(guide: ToolGuide | undefined): string {
  const tool = "load-changes";
  return guide?.offers(tool) && guide.nameOf(tool) === tool ? `: ${tool} with names` : "";
}

/** How many threads are still inside each old definition, in a line; nothing if none is known. */
export function insideLines(inside: readonly types.ThreadsInside[]): string[] {
  const text = ({ name, count, complete }: types.ThreadsInside) =>
    `${cutName(name, MAX_NAME)} ${complete ? "" : "at least "}${count}`;
  const counts = firstTexts(inside, MAX_NAMES, text, "definition");
  return counts.length === 0 ? [] : [`Threads still inside the old definition: ${counts.join(", ")}`];
}

function byFile(
  counts: readonly { readonly file?: string | undefined; readonly count: number }[],
  max: number,
  name: (file?: string) => string,
): string {
  const sorted = [...counts].sort((a, b) => b.count - a.count);
  const text = ({ file, count }: (typeof counts)[number]) => `${name(file)} ${count}`;
  return firstTexts(sorted, max, text, (left) => `${left} other files`).join(", ");
}

function listed(names: readonly string[], count: number): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => cutName(name, MAX_NAME));
  return [...shown, ...(count > shown.length ? [`${count - shown.length} more`] : [])].join(", ");
}

/** Characters of all output apart from evaluations in an answer, unless the call gives a limit. */
const MAX_APART = 2000;

/** Most sections of such output; what others have written is in one more. */
const MAX_SOURCES = 5;

const APART = "output of ";

/** Whether a block of an answer is what {@link apartSections} has made. */
export function isApart(block: string): boolean {
  return block.startsWith(`[${APART}`);
}

function clockText(milliseconds: number): string {
  return new Date(milliseconds).toTimeString().slice(0, 8);
}

function apartTitle({ source, from, to }: ApartOutput): string {
  const [begin, end] = [clockText(from), clockText(to)];
  return `${oneLine(source, MAX_NAME)}, ${begin === end ? begin : `${begin} to ${end}`}`;
}

/**
 * What was written apart from the evaluation: a section for each thread, and for the image's process. Sections that are too long are cut, all at the same
 * length.
 *
 * @param most - Most characters of all. Default: 2000.
 * @param keep - Keeps a text that is cut, and returns its id.
 */
export function apartSections(
  apart: readonly ApartOutput[],
  most: number | undefined,
  keep: (title: string, text: string) => number,
  guide: ToolGuide,
): string[] {
  const sections = apart.map((each) => ({ title: `${APART}${apartTitle(each)}`, text: each.text }));
  const rest = sections.slice(MAX_SOURCES);
  const joined = rest.map(({ title, text }) => textSection(title, text).join("")).join("\n");
  const listed = sections.slice(0, MAX_SOURCES);
  const all = rest.length === 0 ? listed : [...listed, { title: `${APART}${rest.length} others`, text: joined }];
  const share = fairShare(
    all.map(({ text }) => text.length),
    most ?? MAX_APART,
  );
  return all.flatMap(({ title, text }) =>
    textSection(title, text.length <= share ? text : cutOutput(text, share, keep(title, text), guide, "")),
  );
}

/** Most characters that a cut output keeps of its end; of a short output, a third. */
const MAX_TAIL = 4000;

const READER = "evaluate-lisp";

/** The beginning and the end of an output that is longer than `max`. A line between them says why, and how to read on by the id under which it is kept. */
export function cutOutput(
  text: string,
  max: number,
  id: number,
  guide: ToolGuide,
  why = `: max-output is ${max}`,
): string {
  const ending = Math.min(MAX_TAIL, Math.floor(max / 3));
  const head = cut(text, max - ending, "");
  const tail = cutStart(text, ending, "");
  const how =
    guide.nameOf(READER) === READER ? `. To read on, call ${READER} with {"output":${id},"offset":${head.length}}` : "";
  const left = text.length - head.length - tail.length;
  const marker = `[... ${left} of ${text.length} characters left out${why}${how} ...]`;
  return `${head}\n${marker}\n${tail}`;
}

export function outputPart(text: string, offset: number, max: number, id: number): { part: string; place: string } {
  const part = cut(text.slice(offset), max, "");
  const end = offset + part.length;
  const next = end < text.length ? ` Next: {"output":${id},"offset":${end}}` : "";
  return { part, place: `Characters ${offset} to ${end} of ${text.length}.${next}` };
}
