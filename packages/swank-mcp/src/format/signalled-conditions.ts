import type { SignalledCondition, SignalledConditions } from "../image/lisp-port.js";
import { cutName, firstOf, oneLine } from "../text/cut.js";
import type { JsonObject } from "../text/tool-answer.js";

/** Most different conditions in a report, and in its data. */
const MAX_LINES = 20;
const MAX_LISTED = 40;
const MAX_MESSAGE = 120;
const MAX_NAME = 100;

/** Lisp's name for the evaluated forms. */
const TOP_LEVEL = "top level";

/** Lines for the conditions that an evaluation signalled, in the order in which each was first signalled. */
export function conditionLines(conditions: SignalledConditions | undefined): string[] {
  if (conditions === undefined) return [];
  const { entries, others, internal } = conditions;
  const { shown } = firstOf(entries, MAX_LINES);
  const left = total(entries.slice(MAX_LINES)) + others;
  return [
    entries.length === 0 ? "Conditions: none" : `Conditions: ${total(entries) + others}`,
    ...shown.map(conditionLine),
    ...(left > 0 ? [`  ... ${left} others`] : []),
    ...(internal > 0 ? [`  (and ${internal} that Lisp's own functions handled)`] : []),
  ];
}

/** The same conditions as data; nothing if they were not asked for. */
export function conditionsData(conditions: SignalledConditions | undefined): JsonObject {
  if (conditions === undefined) return {};
  const { entries, others, internal } = conditions;
  const { shown } = firstOf(entries, MAX_LISTED);
  const left = others + total(entries.slice(shown.length));
  return {
    conditions: shown.map(conditionData),
    ...(left > 0 ? { conditions_left_out: left } : {}),
    ...(internal > 0 ? { conditions_in_lisp: internal } : {}),
  };
}

function conditionData({ messages, moreMessages, ...rest }: SignalledCondition): JsonObject {
  return { ...rest, messages: messages.map((message) => oneLine(message, MAX_MESSAGE)), more_messages: moreMessages };
}

function total(entries: readonly SignalledCondition[]): number {
  return entries.reduce((sum, { count }) => sum + count, 0);
}

function conditionLine(entry: SignalledCondition): string {
  const { type, messages, moreMessages, count } = entry;
  const times = count === 1 ? "" : ` (${count} times)`;
  const texts = [...messages.map((message) => oneLine(message, MAX_MESSAGE)), ...(moreMessages ? ["..."] : [])];
  const text = texts.length === 0 ? "" : `: ${texts.join(" | ")}`;
  return `  ${cutName(type, MAX_NAME)}${placeText(entry)}, ${handlerText(entry)}${times}${text}`;
}

function placeText({ place, caller }: SignalledCondition): string {
  if (place === undefined) return "";
  return caller === undefined ? within(place) : `${within(place)}, called${within(caller, "by")}`;
}

function handlerText({ clause, handler }: SignalledCondition): string {
  if (handler === undefined) return "not handled";
  return `taken by ${clause === undefined ? "a handler" : `clause ${cutName(clause, MAX_NAME)}`}${within(handler)}`;
}

function within(name: string, preposition = "in"): string {
  return name === TOP_LEVEL ? ` at ${TOP_LEVEL}` : ` ${preposition} ${cutName(name, MAX_NAME)}`;
}
