import type { Decoder, Sexp } from "sexp-parser";
import {
  checkChoice,
  checkFunction,
  checkOptions,
  checkText,
  checkTimeout,
  type OptionNames,
} from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";

/**
 * Lisp systems of this package, in loading order. Each is loaded when one of its functions is first called; every new connection loads
 * `connection`, and `evaluate` if that was compiled before.
 */
export const MODULE_NAMES = [
  "connection",
  "evaluate",
  "debugger",
  "definitions",
  "describe",
  "code",
  "program",
  "trace",
  "profile",
  "inspect-object",
  "heap",
  "inspect",
  "activity",
] as const;

/** Name of a Lisp system of this package. */
export type ModuleName = (typeof MODULE_NAMES)[number];

/**
 * Modules to load right after another one, if the client's options give a call to make with them: `activity` records evaluations from the
 * first one on. Without them, everything else works.
 */
export const COMPANIONS: Readonly<Partial<Record<ModuleName, readonly ModuleName[]>>> = { evaluate: ["activity"] };

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
  /**
   * The contrib of SLIME that defines the function, e.g. `swank-fuzzy`. It is loaded before the first call. Default: none.
   */
  readonly contrib?: string;
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

const DESCRIPTOR_FIELDS: OptionNames<LispFunction<never, unknown>> = {
  name: true,
  where: true,
  module: true,
  contrib: true,
  encode: true,
  decode: true,
  unwound: true,
  refusals: true,
  timeout: true,
  label: true,
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
  checkOptions<LispFunction<never, unknown>>("lispFunction", descriptor, DESCRIPTOR_FIELDS);
  const { name, where = "new-thread", module = "connection", encode, decode, timeout } = descriptor;
  checkText("name", name);
  if (descriptor.module === undefined) checkQualified(name);
  if (descriptor.contrib !== undefined) checkText("contrib", descriptor.contrib);
  checkFunction("decode", decode);
  if (encode !== undefined) checkFunction("encode", encode);
  checkChoice("where", where, PLACES);
  checkChoice("module", module, MODULE_NAMES);
  checkTimeout("timeout", timeout);
  return descriptor;
}

/** Without a package, Lisp would read the name in its current package, where it may mean another function. */
function checkQualified(name: string): void {
  if (name.includes(":")) return;
  throw new SwankError("INVALID_ARGUMENT", `The function's name ${JSON.stringify(name.slice(0, 80))} has no package.`, {
    remedy: "Write the package, as in cl:car or swank:backtrace.",
  });
}
