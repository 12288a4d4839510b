import { distance as editDistance } from "fastest-levenshtein";
import { outlineCode } from "swank-client";

/**
 * Most that one text may cost, or all values or all warnings of a report together. A longer text is cut.
 * A UTF-16 unit costs 1; a control character, which JSON writes as an escape such as `\u0007`, costs 6.
 */
const MAX_COST = 21_000;

const ESCAPED_COST = 6;

/** Room for the marks that Lisp adds to a value when it cuts it. */
const MARKS_COST = 1000;

/** Most that all values together may cost when Lisp prints up to `maxValue` characters of each. A single value always fits. */
export function valuesCost(maxValue = 20_000): number {
  return Math.max(MAX_COST, maxValue + MARKS_COST);
}

/**
 * The text, or its beginning and a mark if it is longer than `max` UTF-16 units. No surrogate pair is split.
 *
 * @param mark - A text for which there is room within `max`; or a function of the number of units left out, whose text is added to `max` units.
 */
export function cut(text: string, max: number, mark: string | ((left: number) => string) = "..."): string {
  if (text.length <= max) return text;
  const end = wholeEnd(text, typeof mark === "string" ? max - mark.length : max);
  return text.slice(0, end) + (typeof mark === "string" ? mark : mark(text.length - end));
}

/** The text, or a mark and its end if it is longer than `max` UTF-16 units, the mark included. No surrogate pair is split. */
export function cutStart(text: string, max: number, mark = "..."): string {
  if (text.length <= max) return text;
  const start = text.length - max + mark.length;
  return mark + text.slice(wholeEnd(text, start) === start ? start : start + 1);
}

/** The text, or its beginning and the number of characters left out if it is too long. */
export function cutText(text: string, maxCost = MAX_COST): string {
  return cut(text, lengthWithin(text, maxCost), (left) => ` [... ${left} characters left out ...]`);
}

/** Texts that are shown together. If they are too long, the longest are cut, all at the same cost, and short texts stay whole. */
export function cutTexts(texts: readonly string[], maxCost = MAX_COST): string[] {
  const share = fairShare(texts.map(costOf), maxCost);
  return texts.map((text) => cutText(text, share));
}

/** Text on one line, at most `max` UTF-16 units, ending in `...` if it was cut. */
export function oneLine(text: string, max: number): string {
  return cut(text.trim().replace(/\s+/g, " "), max);
}

/** A name of at most `max` UTF-16 units, ending in `...` if it was cut. */
export function cutName(name: string, max = 200): string {
  return cut(name, max);
}

/** A file's name on one line: with a newline, it could look like another line of a report. */
export function fileName(name = "", max = 200): string {
  return oneLine(name, max);
}

/** The first `max` items of a list, and the number of items left out. */
export function firstOf<T>(items: readonly T[], max: number): { readonly shown: readonly T[]; readonly left: number } {
  return { shown: items.slice(0, max), left: Math.max(0, items.length - max) };
}

/** The first `max` items as texts, and a text about the others if there are any: `others` is the text, or the word for one of them. */
export function firstTexts<T>(
  items: readonly T[],
  max: number,
  text: (item: T) => string,
  others: string | ((left: number) => string),
): string[] {
  const { shown, left } = firstOf(items, max);
  const rest = typeof others === "string" ? more(left, others) : others(left);
  return [...shown.map((item) => text(item)), ...(left > 0 ? [rest] : [])];
}

/** As many of the first items as have room together. */
export function fitting<T>(items: readonly T[], room: number, lengthOf: (item: T) => number): readonly T[] {
  let left = room;
  const end = items.findIndex((item) => {
    left -= lengthOf(item);
    return left < 0;
  });
  return end < 0 ? items : items.slice(0, end);
}

/** The items with equal keys, in the order of the first of each. */
export function groupedBy<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
): ReadonlyMap<string, readonly [T, ...T[]]> {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

export function plural(count: number, one: string, several = `${one}s`): string {
  return count === 1 ? one : several;
}

/** A number of things in words: `1 line`, `2 lines`. */
export function howMany(count: number, one: string, several?: string): string {
  return `${count} ${plural(count, one, several)}`;
}

/** A call as a backtrace shows it. A long argument list ends in ` ...)`. */
export function cutCall(call: string, max: number): string {
  if (call.length <= max) return call;
  const closing = call.startsWith("(") ? " ...)" : "...";
  const kept = cut(call, max - closing.length, "");
  const lastSpace = kept.lastIndexOf(" ");
  return (lastSpace > 0 ? kept.slice(0, lastSpace) : kept) + closing;
}

/** The line that stands for the items left out of a list, e.g. `... 5 more frames`. */
export function more(count: number, what: string): string {
  return `... ${count} more ${plural(count, what)}`;
}

/** A position at or just before `position` that does not split a surrogate pair. */
function wholeEnd(text: string, position: number): number {
  const code = text.charCodeAt(position - 1);
  return code >= 0xd800 && code <= 0xdbff ? position - 1 : position;
}

/** The most that each item may cost so that all together cost at most `maxCost`. Cheap items leave their unused share to others. */
export function fairShare(costs: readonly number[], maxCost: number): number {
  const rising = [...costs].sort((a, b) => a - b);
  let left = maxCost;
  for (const [index, cost] of rising.entries()) {
    const share = Math.floor(left / (rising.length - index));
    if (cost > share) return share;
    left -= cost;
  }
  return maxCost;
}

function costOf(text: string): number {
  let cost = 0;
  for (let index = 0; index < text.length; index += 1) cost += unitCost(text.charCodeAt(index));
  return cost;
}

/** The length of the beginning of `text` that costs at most `maxCost`. */
function lengthWithin(text: string, maxCost: number): number {
  let left = maxCost;
  for (let index = 0; index < text.length; index += 1) {
    left -= unitCost(text.charCodeAt(index));
    if (left < 0) return index;
  }
  return text.length;
}

function unitCost(code: number): number {
  const isEscaped = code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d;
  return isEscaped ? ESCAPED_COST : 1;
}

const MAX_SHOWN = 60;

/** A value as JSON, for an error message about it; cut if it is long. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, MAX_SHOWN + 1)) : asJson(value);
  return cut(text, MAX_SHOWN, () => "...");
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Nested too deeply for JSON.stringify.
    return Array.isArray(value) ? "[...]" : "{...}";
  }
}

/** Longest name that a message repeats whole, in characters. */
const MAX_NAME = 200;

/** A name from the caller, as a message repeats it: on one line, and cut if it is long. */
export function shownName(name: string): string {
  if (name === "") return "||";
  const line = name.replace(/\p{Cc}/gu, escaped);
  const max = [...line].slice(0, MAX_NAME).join("").length;
  return cut(line, max, () => `... [${[...name].length} characters]`);
}

function escaped(control: string): string {
  return `\\x${control.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

/** Characters that have a meaning in regular expressions and hardly occur in names or code as these characters alone. */
const EXPRESSION = /\.\*|\.\+|\\[bdswBDSW]|\[[^\]]+\]|^\^|\$$|\|/;

/** A pattern in a sentence about names or lines that contain or match it, e.g. `contains "map"`. */
export function patternText(pattern: string, regexp: boolean, count = 1): string {
  return `${regexp ? plural(count, "matches", "match") : plural(count, "contains", "contain")} ${shown(pattern)}`;
}

/** Advice if a text that was not found may be meant as a regular expression. */
export function expressionHint(pattern: string, regexp: boolean): string[] {
  return !regexp && EXPRESSION.test(pattern) ? ["For a regular expression, pass regexp: true."] : [];
}

/**
 * @param limit - Most characters in which a candidate may differ.
 * @returns the candidates that differ from `text` by a slip, the nearest first; at most `most`.
 */
export function nearestOnes(
  text: string,
  candidates: readonly string[],
  most: number,
  limit = text.length > 3 ? 2 : 1,
): readonly string[] {
  return (
    candidates
      .map((candidate) => ({ candidate, difference: Math.abs(text.length - candidate.length) }))
      // The distance is at least the difference of the lengths. This check also bounds the time for long texts.
      .filter(({ difference }) => difference <= limit)
      .map((each) => ({ ...each, distance: editDistance(text.toLowerCase(), each.candidate.toLowerCase()) }))
      .filter(({ distance }) => distance <= limit)
      .sort((one, other) => one.distance - other.distance || one.difference - other.difference)
      .slice(0, most)
      .map(({ candidate }) => candidate)
  );
}

/** @returns the candidate that `text` most likely misspells; `undefined` when none is near enough. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  return nearestOnes(text, candidates, 1, Math.max(2, Math.floor(text.length / 3)))[0];
}

export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function isSystemFile(file: string): boolean {
  return /\.asd$/i.test(file);
}

export function timeText(microseconds: number): string {
  if (microseconds < 1000) return `${Math.round(microseconds)} us`;
  const milliseconds = microseconds / 1000;
  if (milliseconds < 1000) return `${rounded(milliseconds)} ms`;
  return `${rounded(milliseconds / 1000)} s`;
}

export function bytesText(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${step === 0 ? bytes : rounded(bytes / 1000 ** step)} ${units[step]}`;
}

export function percentText(part: number, whole: number): string {
  return whole === 0 ? "0%" : `${((100 * part) / whole).toFixed(1)}%`;
}

export function countText(count: number): string {
  return count.toLocaleString("en-US");
}

function rounded(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** Whether code contains anything other than white space and comments, in the standard readtable's syntax. */
export function holdsForm(code: string): boolean {
  const { state, forms } = outlineCode(code);
  return state !== "complete" || forms.length > 0;
}
