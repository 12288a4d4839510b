import type { Decoder, Sexp } from "sexp-parser";
import { type LispFunction, lispFunction } from "../runtime/function.js";

/** Returns a function that makes descriptors with these fields in common. */
export function callsWith(common: Pick<LispFunction<[], unknown>, "where" | "contrib">) {
  return <Args extends readonly unknown[] = [], Result = unknown>(
    name: string,
    decode: Decoder<Result>,
    encode?: (...args: Args) => readonly Sexp[],
  ): LispFunction<Args, Result> =>
    lispFunction({ ...common, name, decode, ...(encode === undefined ? {} : { encode }) });
}

/** Makes the descriptor of a function of Swank itself, which runs in a new thread. */
export const call = callsWith({});

/** Arguments of functions that take one text, or one number. */
export const oneText = (text: string) => [text];
export const oneNumber = (number: number) => [number];

/** The result of functions that return nothing of interest. */
export const nothing = () => undefined;
