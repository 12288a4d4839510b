import { DecodeError, type Decoder, decode, keyword, NIL, type Sexp, T } from "sexp-parser";
import { ABILITIES, type Ability } from "../base/abilities.js";
import { SwankError } from "../base/errors.js";
import { check, checkOptions, type Schema } from "../base/options.js";
import type { Reply } from "../wire/messages.js";

/**
 * Modules: Lisp systems of this package, each with those that only it and later modules need, in loading order. Each is loaded when one of its
 * functions is first called; every new connection loads `connection`.
 */
export const MODULE_NAMES = [
  "connection",
  "evaluate",
  "debug",
  "image",
  "questions",
  "build",
  "changes",
  "testing",
  "covering",
  "observe",
  "emacs",
] as const;

/** Name of a Lisp system of this package. */
export type ModuleName = (typeof MODULE_NAMES)[number];

/**
 * Modules to load right after another one, if the client's options give a call to make with them: `emacs` records evaluations from the
 * first one on. Without them, everything else works.
 */
export const COMPANIONS: Readonly<Partial<Record<ModuleName, readonly ModuleName[]>>> = { evaluate: ["emacs"] };

const PLACES = ["new-thread", "stopped-thread", "repl-thread"] as const;

/**
 * Replies that mean a refusal: lists whose first element is a keyword. A key is the keyword in lower case; its decoder turns the list of
 * the other elements into the error.
 */
export type Refusals<Args extends readonly unknown[]> = Readonly<
  Record<string, (...args: Args) => Decoder<SwankError>>
>;

/**
 * Describes a function in the image: how to call it and how to decode its reply. `SwankClient.run` calls it.
 *
 * @typeParam Args - The caller's arguments.
 * @typeParam Result - The result for the caller.
 */
export interface LispFunction<Args extends readonly unknown[], Result> {
  /** The function's name with its package, e.g. `swank:backtrace`; without a package if it belongs to `module`. */
  readonly name: string;
  /**
   * The thread that it runs in. `stopped-thread`: a thread in the debugger, given by `RunOptions.thread` or by the stop whose `run` is
   * called. `repl-thread`: the thread in which Swank's REPL evaluates. Default: a new thread for each call.
   */
  readonly where?: (typeof PLACES)[number];
  /** The system of this package that the function needs. It is loaded before the first call. Default: none. */
  readonly module?: ModuleName;
  /** What the image must be able to do. Default: `runtime` for a function of a module, otherwise nothing. */
  readonly ability?: Ability;
  /**
   * The contrib of SLIME that defines the function, e.g. `swank-fuzzy`. It is loaded before the first call. Default: none.
   */
  readonly contrib?: string;
  /** What works where the image's server does not have the function, as a sentence. */
  readonly instead?: string;
  /** The argument forms. They are evaluated: quote lists and symbols that are data. Default: no arguments. */
  readonly encode?: (...args: Args) => readonly Sexp[];
  readonly decode: Decoder<Result>;
  /** For functions that unwind their thread, for which `:abort` means success: makes the result from the text of `:abort`. */
  readonly unwound?: (condition: string) => Result;
  /** Replies that mean an error. Default: none. */
  readonly refusals?: Refusals<Args>;
  /** Milliseconds that the reply may take if the caller gives no timeout. Default: no limit. */
  readonly timeout?: number;
  /** The name of the function in error messages. Default: `name`. */
  readonly label?: (...args: Args) => string;
}

const fields: Schema = {
  name: check.text,
  where: check.choice(PLACES),
  module: check.choice(MODULE_NAMES),
  ability: check.choice(ABILITIES),
  contrib: check.text,
  instead: check.text,
  encode: check.function(),
  decode: check.function(),
  unwound: check.any(),
  refusals: check.any(),
  timeout: check.milliseconds,
  label: check.any(),
};

/**
 * Makes a descriptor whose type follows from its `encode` and `decode`.
 *
 * @throws SwankError `INVALID_ARGUMENT` for an unknown, missing or wrong field.
 *
 * @example
 * const disassemble = lispFunction({
 *   name: "swank:disassemble-form",
 *   encode: (form: string) => [form],
 *   decode: decode.string,
 * });
 * await client.run(disassemble, "'car");
 */
export function lispFunction<Args extends readonly unknown[] = [], Result = unknown>(
  descriptor: LispFunction<Args, Result>,
): LispFunction<Args, Result> {
  checkOptions("lispFunction", descriptor, fields);
  // Without types, a caller can leave them out.
  check.text("name", descriptor.name);
  check.function()("decode", descriptor.decode);
  if (descriptor.module === undefined) checkQualified(descriptor.name);
  return descriptor;
}

/** Without a package, Lisp would read the name in its current package, where it may mean another function. */
function checkQualified(name: string): void {
  if (name.includes(":")) return;
  throw new SwankError("INVALID_ARGUMENT", `The function's name ${JSON.stringify(name.slice(0, 80))} has no package.`, {
    remedy: "Write the package, as in cl:car or swank:backtrace.",
  });
}

/** What the arguments of a call are made of: `undefined` stands for NIL. */
type Argument = Sexp | boolean | undefined;

/** Argument forms: NIL for `undefined` and `false`, T for `true`. */
export function forms(...values: readonly Argument[]): readonly Sexp[] {
  return values.map((value) => (value === undefined || value === false ? NIL : value === true ? T : value));
}

/** Keyword arguments without those that are `undefined` or `false`, so that Lisp uses its defaults. */
export function keywordForms(values: Readonly<Record<string, Argument>>): readonly Sexp[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === false ? [] : [keyword(name), value === true ? T : value],
  );
}

/** Decodes a list without elements, such as the rest of a reply that its tag tells all of. */
export function nothing<Value>(make: () => Value): Decoder<Value> {
  return decode.map(decode.tuple(), make);
}

/** Decodes one of `names`, which Lisp sends as a keyword. */
export function keywordOf<const Name extends string>(names: readonly Name[]): Decoder<Name> {
  return nameOf(
    names,
    decode.map(decode.keywordName, (name) => name.toLowerCase()),
  );
}

/** Decodes one of `names`, whatever kind of symbol or string Lisp sends. */
export function nameOf<const Name extends string>(names: readonly Name[], read: Decoder<string>): Decoder<Name> {
  return (datum) => {
    const text = read(datum);
    const name = names.find((candidate) => candidate === text);
    if (name === undefined) throw new DecodeError(names.join(" or "), datum);
    return name;
  };
}

/** A decoded message; `undefined` for messages of another shape, which have other receivers. */
export function decodedIfKnown<Value>(decoder: Decoder<Value>, datum: Sexp): Value | undefined {
  try {
    return decoder(datum);
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** Options for sending a form to a place. */
export interface SendOptions {
  /** Names the operation in error messages. */
  readonly label: string;
  /** The form may make its thread leave the place. Leaving then means success. */
  readonly mayLeave: boolean;
  /** Milliseconds to wait for the reply. Default: the place's own. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Where a function runs: a thread of an image, or a way to start one. */
export interface Place {
  /** @throws SwankError if there is no reply: the form signalled an error, the wait ended, or the connection closed. */
  send(form: Sexp, options: SendOptions): Promise<Reply>;
}
