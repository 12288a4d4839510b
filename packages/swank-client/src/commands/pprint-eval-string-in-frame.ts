import { decode, list, symbol } from "sexp-parser";
import type { Command } from "./command.js";

/**
 * `(swank:pprint-eval-string-in-frame "SOURCE" INDEX "PACKAGE")`: the values of a form evaluated with a frame's variables, pretty-printed.
 *
 * Runs on the stopped thread. Takes the same arguments in every version, unlike `eval-string-in-frame`.
 */
export const pprintEvalStringInFrame = {
  name: "swank:pprint-eval-string-in-frame",
  encode: (source: string, frame: number, packageName: string) =>
    list(symbol("swank:pprint-eval-string-in-frame"), source, frame, packageName),
  decode: decode.string,
} satisfies Command<[source: string, frame: number, packageName: string], string>;
