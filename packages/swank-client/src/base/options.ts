import { closest, distance } from "fastest-levenshtein";
import { SwankError } from "./errors.js";

/**
 * Returns `value` if it is sound for an option or argument with this name.
 *
 * @throws SwankError `INVALID_ARGUMENT`, which says what to pass.
 */
export type Check<Value> = (name: string, value: unknown) => Value;

/** The options of a function: a check for each. All options may be missing. */
export type Schema = Readonly<Record<string, Check<unknown>>>;

/** The type of the options with a schema. The comments of the schema's entries are those of the options. */
export type OptionsOf<Checks> = {
  readonly [Name in keyof Checks]?: (Checks[Name] extends Check<infer Value> ? Value : never) | undefined;
};

/** The names of all events of a type. The compiler rejects a table with a missing or an extra name. */
export type EventNames<Events> = { readonly [Name in keyof Events]: true };

/** A name that differs from every option in more characters than this gets no suggestion. */
const MAX_TYPOS = 2;

/**
 * Rejects unknown options, because a misspelt one would be ignored silently, and wrong values, which callers without types may pass.
 *
 * @param owner - The name of the function that takes the options, e.g. `connect`.
 * @throws SwankError `INVALID_ARGUMENT`
 */
export function checkOptions(owner: string, options: object, schema: Schema): void {
  if (typeof options !== "object" || options === null) {
    throw new SwankError("INVALID_ARGUMENT", `${owner} takes its options as an object, not ${String(options)}.`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(schema, name)) throw unknownName(`${owner} has no option`, name, schema, "Its options are");
    if (value !== undefined) schema[name]?.(name, value);
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

/** The text for a wrong value in an error message. */
export function shownValue(given: unknown): string {
  if (typeof given === "string") return `the string ${JSON.stringify(given.slice(0, 80))}`;
  return typeof given === "number" || given === null ? String(given) : `a value of type ${typeof given}`;
}

function wrong(name: string, kind: string, shown: string, remedy?: string): SwankError {
  return new SwankError("INVALID_ARGUMENT", `${name} is ${kind}, not ${shown}.`, { remedy });
}

function numberOf(kind: string, isSound: (value: number) => boolean): Check<number> {
  return (name, value) => {
    if (typeof value === "number" && isSound(value)) return value;
    const isQuoted = typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value);
    const remedy = isQuoted ? `Pass the number ${value}, without quotes.` : undefined;
    throw wrong(name, kind, shownValue(value), remedy);
  };
}

function countOf(least: number, most?: number): Check<number> {
  const kind = `a whole number from ${least}${most === undefined ? "" : ` to ${most}`}`;
  return numberOf(kind, (value) => Number.isSafeInteger(value) && value >= least && value <= (most ?? value));
}

/** Whether a value has a type of `typeof`, of which TypeScript knows more. */
function isA<Value>(type: "function" | "object", value: unknown): value is Value {
  return typeof value === type;
}

function isAny<Value>(_value: unknown): _value is Value {
  return true;
}

/** Checks for arguments, and for the options of a schema. */
export const check = {
  text(name: string, value: unknown): string {
    if (typeof value === "string") return value;
    throw wrong(name, "a string", typeof value);
  },

  texts(name: string, values: unknown): readonly string[] {
    if (Array.isArray(values) && values.every((value) => typeof value === "string")) return values;
    const remedy = 'Pass one Lisp expression for each argument, such as ["1"].';
    throw wrong(name, "a list of strings", shownValue(values), remedy);
  },

  flag(name: string, value: unknown): boolean {
    if (typeof value === "boolean") return value;
    throw wrong(name, "true or false", shownValue(value));
  },

  /** Whole numbers from `least`, at most `most`. */
  count: countOf,

  index: countOf(0),

  /** An id is sent unchanged, and a list would be code. */
  id: numberOf("a whole number", Number.isSafeInteger),

  ids(name: string, values: unknown): readonly number[] {
    if (Array.isArray(values) && values.every((value) => Number.isSafeInteger(value))) return values;
    throw wrong(name, "a list of ids", shownValue(values));
  },

  characters: numberOf("a number of characters", (value) => value >= 0),

  milliseconds: numberOf("a number of milliseconds", (value) => value >= 0),

  /** Numbers of a kind. */
  number: numberOf,

  signal(name: string, value: unknown): AbortSignal {
    if (value instanceof AbortSignal) return value;
    const remedy = "Pass the signal of an AbortController, or AbortSignal.timeout(MILLISECONDS).";
    throw wrong(name, "an AbortSignal", shownValue(value), remedy);
  },

  /** Functions; their arguments and results cannot be checked. */
  function: <Value extends (...args: never[]) => unknown>(): Check<Value> => {
    return (name, value) => {
      if (isA<Value>("function", value)) return value;
      throw wrong(name, "a function", shownValue(value));
    };
  },

  /** One of `choices`. */
  choice: <const Choice extends string>(choices: readonly Choice[]): Check<Choice> => {
    return (name, value) => {
      const found = choices.find((choice) => choice === value);
      if (found !== undefined) return found;
      const given = typeof value === "string" ? value.slice(0, 80) : `a value of type ${typeof value}`;
      throw wrong(name, `one of ${choices.join(", ")}`, given);
    };
  },

  /** Options in an option. */
  options: <Checks extends Schema>(schema: Checks): Check<OptionsOf<Checks>> => {
    return (name, value) => {
      if (!isA<OptionsOf<Checks>>("object", value)) throw wrong(name, "an object", shownValue(value));
      checkOptions(name, value, schema);
      return value;
    };
  },

  /** Any value: only TypeScript checks it. */
  any: <Value>(): Check<Value> => {
    return (name, value) => {
      if (isAny<Value>(value)) return value;
      throw wrong(name, "another value", shownValue(value));
    };
  },

  /** What one of two checks accepts; an error is that of the second. */
  either: <First, Second>(first: Check<First>, second: Check<Second>): Check<First | Second> => {
    return (name, value) => {
      try {
        return first(name, value);
      } catch {
        return second(name, value);
      }
    };
  },
};

export const question = {
  /** Ends the wait when aborted. The image may still complete the request. */
  signal: check.signal,
};

/** Options for waiting for the image's answer. */
export interface QuestionOptions extends OptionsOf<typeof question> {}
