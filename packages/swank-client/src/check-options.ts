import { SwankError } from "./errors.js";

/** The names of all options of a type; the compiler refuses a table that lacks one or has one too many. */
export type OptionNames<Options> = { readonly [Name in keyof Required<Options>]: true };

/**
 * Refuses options that do not exist, since a misspelt one would be ignored without a word.
 *
 * @param owner - What they are options of, as the caller wrote it, e.g. `connect`.
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
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) return;
  throw new SwankError("INVALID_ARGUMENT", `${owner} has no option "${unknown.slice(0, 80)}".`, {
    remedy: `Its options are ${Object.keys(names).sort().join(", ")}.`,
  });
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkText(name: string, value: unknown): void {
  if (typeof value !== "string") throw new SwankError("INVALID_ARGUMENT", `${name} is a string, not ${typeof value}.`);
}
