import { decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

const IN_FRAME = {
  where: "stopped-thread",
  encode: (source: string, frame: number, packageName: string) => [source, frame, packageName],
  decode: decode.string,
} as const;

/** `(swank:eval-string-in-frame "SOURCE" INDEX "PACKAGE")`: the values of a form evaluated with a frame's variables, as the echo area shows them: `=> 7`. */
export const evalStringInFrame = lispFunction({ ...IN_FRAME, name: "swank:eval-string-in-frame" });

/**
 * `(swank:pprint-eval-string-in-frame "SOURCE" INDEX "PACKAGE")`: the values of a form evaluated with a frame's variables, pretty-printed.
 *
 * Runs on the stopped thread. Takes the same arguments in every version.
 */
export const pprintEvalStringInFrame = lispFunction({ ...IN_FRAME, name: "swank:pprint-eval-string-in-frame" });
