import type { Restart } from "../image/lisp-port.js";
import { cutName, firstOf, more, oneLine } from "../text/cut.js";
import type { JsonObject } from "../text/tool-answer.js";

/** Most restarts in an answer: the innermost, and the outermost, which abort or retry the evaluation. */
const INNERMOST = 40;
const OUTERMOST = 5;
const MAX_DESCRIPTION = 200;
/** Most numbers, or ranges of numbers, of equal restarts. */
const MAX_RANGES = 20;

/** Restarts that are listed once, the innermost first. */
type Group = readonly [Restart, ...Restart[]];

/** A line for each restart, one for those with the same name and description, and one for the number left out. */
export function restartLines(restarts: readonly Restart[]): string[] {
  const { first, left, last } = someOf(grouped(restarts, describedName));
  return [...first.map(restartLine), ...(left > 0 ? [`  ${more(left, "restart")}`] : []), ...last.map(restartLine)];
}

/** Restarts as data, and the number left out. Restarts count from 1, as in every answer; `also` has the numbers of those that look the same. */
export function restartsData(restarts: readonly Restart[]): JsonObject {
  const { first, left, last } = someOf(grouped(restarts, describedName));
  return { restarts: [...first, ...last].map(restartData), ...(left > 0 ? { restarts_left_out: left } : {}) };
}

/** The numbers and names by which restarts can be chosen. */
export function restartNames(restarts: readonly Restart[]): string {
  const { first, left, last } = someOf(grouped(restarts, ({ name }) => name));
  return [...first.map(numbered), ...(left > 0 ? [more(left, "restart")] : []), ...last.map(numbered)].join(", ");
}

/** The numbers of restarts, from 1, in ascending order: `2-5, 7`. */
export function restartNumbers(restarts: readonly Restart[]): string {
  const ranges: { from: number; to: number }[] = [];
  for (const { index } of restarts) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to === index) last.to = index + 1;
    else ranges.push({ from: index + 1, to: index + 1 });
  }
  const { shown, left } = firstOf(ranges, MAX_RANGES);
  const texts = shown.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`));
  return [...texts, ...(left > 0 ? ["..."] : [])].join(", ");
}

/** Groups the restarts with equal keys, in the order of the innermost ones. */
function grouped(restarts: readonly Restart[], key: (restart: Restart) => string): Group[] {
  const groups = new Map<string, [Restart, ...Restart[]]>();
  for (const restart of restarts) {
    const group = groups.get(key(restart));
    if (group === undefined) groups.set(key(restart), [restart]);
    else group.push(restart);
  }
  return [...groups.values()];
}

function describedName({ name, description }: Restart): string {
  return JSON.stringify([name, description]);
}

function someOf(groups: readonly Group[]) {
  if (groups.length <= INNERMOST + OUTERMOST) return { first: groups, left: 0, last: [] };
  return {
    first: groups.slice(0, INNERMOST),
    left: groups.slice(INNERMOST, -OUTERMOST).flat().length,
    last: groups.slice(-OUTERMOST),
  };
}

function restartLine([{ index, name, description }, ...others]: Group): string {
  const also = others.length === 0 ? "" : ` (also ${restartNumbers(others)})`;
  return `  ${index + 1}. ${shownName(name)} - ${oneLine(description, MAX_DESCRIPTION)}${also}`;
}

function restartData([{ index, name, description }, ...others]: Group): JsonObject {
  const also = others.length === 0 ? {} : { also: restartNumbers(others) };
  return { index: index + 1, name: cutName(name), description, ...also };
}

function numbered(group: Group): string {
  return `${restartNumbers(group)} ${shownName(group[0].name)}`;
}

function shownName(name: string): string {
  return name === "" ? "(unnamed)" : cutName(name);
}
