import { decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/**
 * `(swank:pprint-eval-string-in-frame "SOURCE" INDEX "PACKAGE")`: the values of a form evaluated with a frame's variables, pretty-printed.
 *
 * Runs on the stopped thread. Takes the same arguments in every version, unlike `eval-string-in-frame`.
 */
export const pprintEvalStringInFrame = lispFunction({
  name: "swank:pprint-eval-string-in-frame",
  where: "stopped-thread",
  encode: (source: string, frame: number, packageName: string) => [source, frame, packageName],
  decode: decode.string,
});
