import { type Decoder, decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** Output and values of an evaluation. */
export interface GrabbedOutput {
  readonly stdout: string;
  /** All values, one per line; `""` for none. */
  readonly values: string;
}

const grabbed: Decoder<GrabbedOutput> = decode.record({ stdout: decode.string, values: decode.string });

/** `(swank:eval-and-grab-output "SOURCE")`: evaluates the first form of a source text. Works without the runtime. */
export const evalAndGrabOutput = lispFunction({
  name: "swank:eval-and-grab-output",
  encode: (source: string) => [source],
  decode: grabbed,
});
