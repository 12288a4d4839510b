import type { EvaluateOptions } from "./evaluation.js";

/**
 * The next text of an evaluation's standard input; `""` at its end, also if the caller's function fails.
 *
 * @param report - Receives what the function throws, and what it returns instead of text.
 */
export async function readInput(onRead: EvaluateOptions["onRead"], report: (error: unknown) => void): Promise<string> {
  try {
    const text: unknown = await onRead?.();
    if (text === undefined || typeof text === "string") return text ?? "";
    report(new TypeError(`onRead gives a string or undefined, not ${typeof text}.`));
  } catch (error) {
    report(error);
  }
  return "";
}
