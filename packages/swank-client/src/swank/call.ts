import { type Decoder, list, quote, type Sexp, symbol } from "sexp-parser";
import { type LispFunction, lispFunction } from "../runtime/function.js";

/** Returns a function that makes descriptors with these fields in common. */
export function callsWith(common: Pick<LispFunction<[], unknown>, "where" | "contrib" | "instead">) {
  return <Args extends readonly unknown[] = [], Result = unknown>(
    name: string,
    decode: Decoder<Result>,
    encode?: (...args: Args) => readonly Sexp[],
  ): LispFunction<Args, Result> =>
    lispFunction({ ...common, name, decode, ...(encode === undefined ? {} : { encode }) });
}

/** Makes the descriptor of a function of Swank itself, which runs in a new thread. */
export const call = callsWith({});

/** Lines and columns beyond which Swank cuts the text since 2.32: never, and with the right margin that printing has by default. */
const ECHO_AREA = quote([1_000_000, 90]);

/** The size of Emacs's echo area, as a list of arguments; no arguments for a version of the function that takes only `count` others. */
export function echoArea(name: string, count: number): Sexp {
  const parameters = list(symbol("swank/backend:arglist"), quote(symbol(name)));
  return list(symbol("cl:and"), list(symbol("cl:nthcdr"), count, parameters), ECHO_AREA);
}

/** Arguments of functions that take one text, or one number. */
export const oneText = (text: string) => [text];
export const oneNumber = (number: number) => [number];

/** The result of functions that return nothing of interest. */
export const nothing = () => undefined;
