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

/** The text, or its beginning and the number of characters left out if it is too long. */
export function cutText(text: string, maxCost = MAX_COST): string {
  const end = endWithin(text, maxCost);
  return end === text.length ? text : `${text.slice(0, end)} [... ${text.length - end} characters left out ...]`;
}

/** Texts that are shown together. If they are too long, the longest are cut, all at the same cost, and short texts stay whole. */
export function cutTexts(texts: readonly string[], maxCost = MAX_COST): string[] {
  const share = fairShare(texts.map(costOf), maxCost);
  return texts.map((text) => cutText(text, share));
}

/** Text on one line, at most `max` UTF-16 units, ending in `...` if it was cut. */
export function oneLine(text: string, max: number): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length <= max ? line : `${line.slice(0, wholeEnd(line, max - 3))}...`;
}

/** A name of at most `max` UTF-16 units, ending in `...` if it was cut. */
export function cutName(name: string, max = 200): string {
  return name.length <= max ? name : `${name.slice(0, wholeEnd(name, max - 3))}...`;
}

/** A file's name on one line: with a newline, it could look like another line of a report. */
export function fileName(name = "", max = 200): string {
  return oneLine(name, max);
}

/** The first `max` items of a list, and the number of items left out. */
export function firstOf<T>(items: readonly T[], max: number): { readonly shown: readonly T[]; readonly left: number } {
  return { shown: items.slice(0, max), left: Math.max(0, items.length - max) };
}

/** A call as a backtrace shows it. A long argument list ends in ` ...)`. */
export function cutCall(call: string, max: number): string {
  if (call.length <= max) return call;
  const closing = call.startsWith("(") ? " ...)" : "...";
  const kept = call.slice(0, wholeEnd(call, max - closing.length));
  const lastSpace = kept.lastIndexOf(" ");
  return (lastSpace > 0 ? kept.slice(0, lastSpace) : kept) + closing;
}

/** The line that stands for the items left out of a list, e.g. `... 5 more frames`. */
export function more(count: number, what: string): string {
  return `... ${count} more ${what}${count === 1 ? "" : "s"}`;
}

/** A position at or just before `position` that does not split a surrogate pair. */
export function wholeEnd(text: string, position: number): number {
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

/** The position up to which `text` costs at most `maxCost`. */
function endWithin(text: string, maxCost: number): number {
  let left = maxCost;
  for (let index = 0; index < text.length; index += 1) {
    left -= unitCost(text.charCodeAt(index));
    if (left < 0) return wholeEnd(text, index);
  }
  return text.length;
}

function unitCost(code: number): number {
  const isEscaped = code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d;
  return isEscaped ? ESCAPED_COST : 1;
}
