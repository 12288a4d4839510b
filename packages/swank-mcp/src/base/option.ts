/** An invalid command-line option or environment variable. The message says what to write instead. */
export class OptionError extends Error {
  override readonly name = "OptionError";
}

/** One option, as the command line, the environment, `--help` and the documentation use it. `T` is the type of its value. */
export interface Option<T> {
  readonly flag: `--${string}`;
  /** The value's name in the help; absent for options without a value. */
  readonly placeholder?: string;
  readonly valueOptional?: boolean;
  readonly summary: string;
  /** The summary in the short help; absent for options that it leaves out. */
  readonly brief?: string;
  /** The default, in words; absent if it is obvious. */
  readonly fallback?: string;
  /** The default in the console, where a person can wait and interrupt. */
  readonly inConsole?: string;
  /**
   * @param texts - The values given, in order: none if the option was not given, `""` for an omitted value.
   * @param source - The option's name in error messages.
   * @throws OptionError - if the values are invalid.
   */
  read(texts: readonly string[], source: string): T;
}

/** An option's default, in words; `undefined` if it is obvious. */
export function fallbackText({ fallback, inConsole }: Option<unknown>): string | undefined {
  return inConsole === undefined ? fallback : `${fallback}; in the console ${inConsole}`;
}

export function optionHead({ flag, placeholder, valueOptional }: Option<unknown>): string {
  if (placeholder === undefined) return flag;
  return `${flag} ${valueOptional === true ? `[${placeholder}]` : placeholder}`;
}

export function environmentName(option: Option<unknown>): string {
  return `SWANK_MCP_${option.flag.slice(2).replaceAll("-", "_").toUpperCase()}`;
}

type Description = Omit<Option<unknown>, "read">;

/** An option without a value. Its environment variable takes `1` or `0`. */
export function flagOption(description: Description): Option<boolean> {
  return { ...description, read: (texts, source) => readBoolean(texts.at(-1), source) };
}

/** An option whose value is any text. The last value given wins. */
export function textOption(description: Description & { placeholder: string }): Option<string | undefined> {
  return { ...description, read: (texts, source) => nonEmpty(texts.at(-1), source) };
}

export function listOption(description: Description & { placeholder: string }): Option<readonly string[]> {
  return { ...description, read: (texts, source) => texts.flatMap((text) => nonEmpty(text, source) ?? []) };
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean | undefined;
}

/** An option whose value is a number within bounds; `fallback` by default. */
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

/** An option whose value is a number within bounds; `undefined` by default. */
export function optionalNumberOption(
  description: Description & { placeholder: string; fallback: string } & Bounds,
): Option<number | undefined> {
  const { min, max, whole, ...rest } = description;
  return {
    ...rest,
    read: (texts, source) => readNumber(texts.at(-1), { without: rest.fallback, min, max, whole }, source),
  };
}

/** An option whose value is one of several words; the first by default. */
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

/** An option whose value is a comma-separated subset of several words; all by default. */
export function subsetOption<const Choice extends string>(
  description: Omit<Description, "fallback" | "placeholder"> & { choices: readonly Choice[] },
): Option<readonly Choice[]> {
  const { choices, ...rest } = description;
  return {
    ...rest,
    placeholder: choices.join(","),
    fallback: "all",
    read: (texts, source) => readSubset(texts.at(-1), choices, source),
  };
}

function readBoolean(text: string | undefined, source: string): boolean {
  if (text === undefined) return false;
  if (["", "1", "true", "yes", "on"].includes(text.toLowerCase())) return true;
  if (["0", "false", "no", "off"].includes(text.toLowerCase())) return false;
  throw new OptionError(`${source} must be 1 or 0, not ${JSON.stringify(text)}.`);
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
    `${source} takes a ${kind} from ${bounds.min} to ${bounds.max}, not ${JSON.stringify(text)}. Default: ${bounds.without}.`,
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

function readSubset<Choice extends string>(
  text: string | undefined,
  choices: readonly Choice[],
  source: string,
): readonly Choice[] {
  if (text === undefined) return choices;
  const words = text.split(",").map((word) => word.trim());
  const wrong = words.find((word) => !choices.some((choice) => choice === word));
  if (wrong === undefined) return choices.filter((choice) => words.includes(choice));
  throw new OptionError(
    `${source} takes a comma-separated list of ${choices.join(", ")}, not ${JSON.stringify(wrong)}.`,
  );
}
