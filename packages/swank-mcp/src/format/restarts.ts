import type { Restart } from "../image/lisp-port.js";
import { cutName, more, oneLine } from "../text/cut.js";
import type { JsonObject } from "../text/tool-answer.js";

/** Most restarts in an answer: the innermost, and the outermost, which abort or retry the evaluation. */
const INNERMOST = 40;
const OUTERMOST = 5;
const MAX_DESCRIPTION = 200;

/** A line for each restart, and one for the number left out. */
export function restartLines(restarts: readonly Restart[]): string[] {
  const { first, left, last } = someOf(restarts);
  return [...first.map(restartLine), ...(left > 0 ? [`  ${more(left, "restart")}`] : []), ...last.map(restartLine)];
}

/** Restarts as data, and the number left out. Restarts count from 1, as in every answer. */
export function restartsData(restarts: readonly Restart[]): JsonObject {
  const { first, left, last } = someOf(restarts);
  return { restarts: [...first, ...last].map(restartData), ...(left > 0 ? { restarts_left_out: left } : {}) };
}

/** The numbers and names by which restarts can be chosen. */
export function restartNames(restarts: readonly Restart[]): string {
  const { first, left, last } = someOf(restarts);
  return [...first.map(numbered), ...(left > 0 ? [more(left, "restart")] : []), ...last.map(numbered)].join(", ");
}

function someOf(restarts: readonly Restart[]) {
  const left = Math.max(0, restarts.length - INNERMOST - OUTERMOST);
  if (left === 0) return { first: restarts, left, last: [] };
  return { first: restarts.slice(0, INNERMOST), left, last: restarts.slice(-OUTERMOST) };
}

function restartLine({ index, name, description }: Restart): string {
  return `  ${index + 1}. ${shownName(name)} - ${oneLine(description, MAX_DESCRIPTION)}`;
}

function restartData({ index, name, description }: Restart): JsonObject {
  return { index: index + 1, name: cutName(name), description };
}

function numbered({ index, name }: Restart): string {
  return `${index + 1} ${shownName(name)}`;
}

function shownName(name: string): string {
  return name === "" ? "(unnamed)" : cutName(name);
}
