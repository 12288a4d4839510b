import { closest, distance } from "fastest-levenshtein";
import { SwankError } from "./errors.js";

/** The names of all options of a type. The compiler rejects a table with a missing or an extra name. */
export type OptionNames<Options> = { readonly [Name in keyof Required<Options>]: true };

/** A name that differs from every option in more characters than this gets no suggestion. */
const MAX_TYPOS = 2;

/**
 * Rejects unknown options, because a misspelt one would be ignored silently.
 *
 * @param owner - The name of the function that takes the options, e.g. `connect`.
 * @throws SwankError `INVALID_ARGUMENT`
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: Options,
  names: OptionNames<Options>,
): void {
  if (typeof options !== "object" || options === null) {
    throw new SwankError("INVALID_ARGUMENT", `${owner} takes its options as an object, not ${String(options)}.`);
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(names, name)) throw unknownName(`${owner} has no option`, name, names, "Its options are");
  }
}

/**
 * Rejects the name of an event that is never emitted, because its listener would wait forever.
 *
 * @throws SwankError `INVALID_ARGUMENT`
 */
export function checkEvent(event: unknown, names: Readonly<Record<string, true>>): void {
  if (typeof event === "string" && Object.hasOwn(names, event)) return;
  throw unknownName("There is no event", String(event), names, "The events are");
}

function unknownName(problem: string, name: string, names: object, introduction: string): SwankError {
  const shown = name.slice(0, 80);
  const known = Object.keys(names).sort();
  const nearest = closest(shown, known);
  const hint = distance(shown, nearest) <= MAX_TYPOS ? ` Did you mean "${nearest}"?` : "";
  const remedy = `${introduction} ${known.join(", ")}.`;
  return new SwankError("INVALID_ARGUMENT", `${problem} "${shown}".${hint}`, { remedy });
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkText(name: string, value: unknown): void {
  if (typeof value !== "string") throw new SwankError("INVALID_ARGUMENT", `${name} is a string, not ${typeof value}.`);
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkTexts(name: string, values: unknown): void {
  if (Array.isArray(values) && values.every((value) => typeof value === "string")) return;
  throw new SwankError("INVALID_ARGUMENT", `${name} is a list of strings, not ${shownValue(values)}.`, {
    remedy: 'Pass one Lisp expression for each argument, such as ["1"].',
  });
}

/** @throws SwankError `INVALID_ARGUMENT` for a value that is not an index, such as `null` from a caller without types. */
export function checkIndex(name: string, index: number): void {
  checkNumber(name, index, "a whole number from 0", Number.isSafeInteger(index) && index >= 0);
}

/** @throws SwankError `INVALID_ARGUMENT` for a value that is not an id: it would be sent unchanged, and a list is code. */
export function checkId(name: string, id: number): void {
  checkNumber(name, id, "a whole number", Number.isSafeInteger(id));
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkLimit(name: string, value: unknown): void {
  checkNumber(name, value, "a number of characters", typeof value === "number" && value >= 0);
}

/** @throws SwankError `INVALID_ARGUMENT` for a value that is not a number of milliseconds; a string would be compared as text. */
export function checkTimeout(name: string, value: unknown): void {
  const isTime = value === undefined || (typeof value === "number" && value >= 0);
  checkNumber(name, value, "a number of milliseconds", isTime);
}

/** @throws SwankError `INVALID_ARGUMENT` unless `isSound`. The error says what to pass. */
export function checkNumber(name: string, value: unknown, kind: string, isSound: boolean): void {
  if (isSound) return;
  const isQuoted = typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value);
  const remedy = isQuoted ? `Pass the number ${value}, without quotes.` : undefined;
  throw new SwankError("INVALID_ARGUMENT", `${name} is ${kind}, not ${shownValue(value)}.`, { remedy });
}

/** The text for a wrong value in an error message. */
export function shownValue(given: unknown): string {
  if (typeof given === "string") return `the string ${JSON.stringify(given.slice(0, 80))}`;
  return typeof given === "number" || given === null ? String(given) : `a value of type ${typeof given}`;
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new SwankError("INVALID_ARGUMENT", `signal is an AbortSignal, not ${shownValue(signal)}.`, {
    remedy: "Pass the signal of an AbortController, or AbortSignal.timeout(MILLISECONDS).",
  });
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value === "function") return;
  throw new SwankError("INVALID_ARGUMENT", `${name} is a function, not ${shownValue(value)}.`);
}

/** @throws SwankError `INVALID_ARGUMENT` for a value that is none of `choices`, such as a misspelt one from a caller without types. */
export function checkChoice(name: string, value: unknown, choices: readonly string[]): void {
  if (choices.some((choice) => choice === value)) return;
  const given = typeof value === "string" ? value.slice(0, 80) : `a value of type ${typeof value}`;
  throw new SwankError("INVALID_ARGUMENT", `${name} is one of ${choices.join(", ")}, not ${given}.`);
}
