/** A mistake on the command line or in an environment variable; the message says what to write instead. */
export class OptionError extends Error {
  override readonly name = "OptionError";
}

/**
 * One option: everything that the command line, the environment, `--help` and the documentation need to know of it.
 *
 * `T` is what the program gets.
 */
export interface Option<T> {
  readonly flag: `--${string}`;
  /** What stands for the value in the help; absent for options without one. */
  readonly placeholder?: string;
  /** The value may be left out. */
  readonly valueOptional?: boolean;
  readonly summary: string;
  /** Its effect when it is not given, in words; absent when that goes without saying. */
  readonly fallback?: string;
  /** What it is in the console when it is not given, where a person sits who can wait, look and break in. */
  readonly inConsole?: string;
  /**
   * @param texts - The values given, in order: none when it was not given, `""` for a value left out.
   * @throws OptionError - when they make no sense; `source` is what the message calls the option.
   */
  read(texts: readonly string[], source: string): T;
}

/** An option's effect when it is not given, in words; `undefined` when that goes without saying. */
export function fallbackText({ fallback, inConsole }: Option<unknown>): string | undefined {
  return inConsole === undefined ? fallback : `${fallback}; in the console ${inConsole}`;
}

/** Name of the environment variable that stands for an option. */
export function environmentName(option: Option<unknown>): string {
  return `SWANK_MCP_${option.flag.slice(2).replaceAll("-", "_").toUpperCase()}`;
}

type Description = Omit<Option<unknown>, "read">;

/** An option without a value. In the environment it takes `1` or `0`. */
export function flagOption(description: Description): Option<boolean> {
  return { ...description, read: (texts, source) => readBoolean(texts.at(-1), source) };
}

/** An option with any text as its value; the last one counts. */
export function textOption(description: Description & { placeholder: string }): Option<string | undefined> {
  return { ...description, read: (texts, source) => nonEmpty(texts.at(-1), source) };
}

/** An option that may be given several times. */
export function listOption(description: Description & { placeholder: string }): Option<readonly string[]> {
  return { ...description, read: (texts, source) => texts.flatMap((text) => nonEmpty(text, source) ?? []) };
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Only whole numbers make sense. */
  readonly whole?: boolean | undefined;
}

/** A number within bounds, `fallback` if not given. */
export function numberOption(
  description: Omit<Description, "fallback"> & { placeholder: string; fallback: number } & Bounds,
): Option<number> {
  const { fallback, min, max, whole, ...rest } = description;
  return {
    ...rest,
    fallback: String(fallback),
    read: (texts, source) => readNumber(texts.at(-1), { without: fallback, min, max, whole }, source) ?? fallback,
  };
}

/** A number within bounds, `undefined` if not given. */
export function optionalNumberOption(
  description: Description & { placeholder: string; fallback: string } & Bounds,
): Option<number | undefined> {
  const { min, max, whole, ...rest } = description;
  return {
    ...rest,
    read: (texts, source) => readNumber(texts.at(-1), { without: rest.fallback, min, max, whole }, source),
  };
}

/** One of several words, the first of them if not given. */
export function choiceOption<const Choice extends string>(
  description: Omit<Description, "fallback" | "placeholder"> & { choices: readonly [Choice, ...Choice[]] },
): Option<Choice> {
  const { choices, ...rest } = description;
  return {
    ...rest,
    placeholder: choices.join("|"),
    fallback: choices[0],
    read: (texts, source) => readChoice(texts.at(-1), choices, source),
  };
}

function readBoolean(text: string | undefined, source: string): boolean {
  if (text === undefined) return false;
  if (["", "1", "true", "yes", "on"].includes(text.toLowerCase())) return true;
  if (["0", "false", "no", "off"].includes(text.toLowerCase())) return false;
  throw new OptionError(`${source} is either on or off: write 1 or 0, not ${JSON.stringify(text)}.`);
}

function nonEmpty(text: string | undefined, source: string): string | undefined {
  if (text === "") throw new OptionError(`${source} needs a value.`);
  return text;
}

function readNumber(
  text: string | undefined,
  bounds: Bounds & { readonly without: number | string },
  source: string,
): number | undefined {
  if (text === undefined) return undefined;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  const fits = value >= bounds.min && value <= bounds.max;
  if (fits && (Number.isInteger(value) || bounds.whole !== true)) return value;
  const kind = bounds.whole === true ? "whole number" : "number";
  throw new OptionError(
    `${source} takes a ${kind} from ${bounds.min} to ${bounds.max}, not ${JSON.stringify(text)}; without it, ${bounds.without} is used.`,
  );
}

function readChoice<Choice extends string>(
  text: string | undefined,
  choices: readonly [Choice, ...Choice[]],
  source: string,
): Choice {
  if (text === undefined) return choices[0];
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  throw new OptionError(`${source} takes ${choices.join(" or ")}, not ${JSON.stringify(text)}.`);
}
