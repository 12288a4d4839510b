import { checkFunction } from "../base/check-arguments.js";
import type { EvaluateOptions } from "./evaluation.js";

/** Gives the next text; `undefined` or `""` at its end. An untyped caller may give other things. */
export type InputFunction = () => Promise<unknown>;

/**
 * The function that gives the next text of the option `onRead`. Bytes of a stream are UTF-8.
 *
 * @throws SwankError `INVALID_ARGUMENT`
 */
export function inputFunction(onRead: NonNullable<EvaluateOptions["onRead"]>): InputFunction {
  if (typeof onRead !== "object" || !(Symbol.asyncIterator in onRead)) {
    checkFunction("onRead", onRead);
    return async () => onRead();
  }
  const chunks = onRead[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  return async () => {
    for (;;) {
      const { done, value } = await chunks.next();
      if (done === true) return undefined;
      const text = value instanceof Uint8Array ? decoder.decode(value, { stream: true }) : value;
      // An empty text, as of a part of a character, would end the input.
      if (text !== "") return text;
    }
  };
}

/**
 * The next text of an evaluation's standard input; `""` at its end, also if the caller's function fails.
 *
 * @param report - Receives what the function throws, and what it returns instead of text.
 */
export async function readInput(
  next: InputFunction = async () => undefined,
  report: (error: unknown) => void,
): Promise<string> {
  try {
    const text = await next();
    if (text === undefined || typeof text === "string") return text ?? "";
    report(new TypeError(`onRead gives a string or undefined, not ${typeof text}.`));
  } catch (error) {
    report(error);
  }
  return "";
}
