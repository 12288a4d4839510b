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
  for (const name of Object.keys(options)) if (!Object.hasOwn(names, name)) throw unknownOption(owner, name, names);
}

function unknownOption(owner: string, unknown: string, names: object): SwankError {
  const shown = unknown.slice(0, 80);
  const known = Object.keys(names).sort();
  const nearest = closest(shown, known);
  const hint = distance(shown, nearest) <= MAX_TYPOS ? ` Did you mean "${nearest}"?` : "";
  return new SwankError("INVALID_ARGUMENT", `${owner} has no option "${shown}".${hint}`, {
    remedy: `Its options are ${known.join(", ")}.`,
  });
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkText(name: string, value: unknown): void {
  if (typeof value !== "string") throw new SwankError("INVALID_ARGUMENT", `${name} is a string, not ${typeof value}.`);
}

/** @throws SwankError `INVALID_ARGUMENT` for a value that is not an index, such as `null` from a caller without types. */
export function checkIndex(name: string, index: number): void {
  if (Number.isSafeInteger(index) && index >= 0) return;
  throw new SwankError("INVALID_ARGUMENT", `${name} is a whole number from 0, not ${shownIndex(index)}.`);
}

/** @throws SwankError `INVALID_ARGUMENT` for a value that is not an id: it would be sent unchanged, and a list is code. */
export function checkId(name: string, id: number): void {
  if (Number.isSafeInteger(id)) return;
  throw new SwankError("INVALID_ARGUMENT", `${name} is a whole number, not ${shownIndex(id)}.`);
}

/** The text for a wrong index in an error message. */
export function shownIndex(given: unknown): string {
  return typeof given === "number" || given === null ? String(given) : `a value of type ${typeof given}`;
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkLimit(name: string, value: number): void {
  if (!(value >= 0)) throw new SwankError("INVALID_ARGUMENT", `${name} is a number of characters, not ${value}.`);
}

/** @throws SwankError `INVALID_ARGUMENT` for a value that is none of `choices`, such as a misspelt one from a caller without types. */
export function checkChoice(name: string, value: unknown, choices: readonly string[]): void {
  if (choices.some((choice) => choice === value)) return;
  const given = typeof value === "string" ? value.slice(0, 80) : `a value of type ${typeof value}`;
  throw new SwankError("INVALID_ARGUMENT", `${name} is one of ${choices.join(", ")}, not ${given}.`);
}
