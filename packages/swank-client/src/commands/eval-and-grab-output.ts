import { type Decoder, decode, list, symbol } from "sexp-parser";
import type { Command } from "./command.js";

/** What an evaluation printed and gave. */
export interface GrabbedOutput {
  readonly stdout: string;
  /** All values, a line each; `""` for none. */
  readonly values: string;
}

const grabbed: Decoder<GrabbedOutput> = decode.record({ stdout: decode.string, values: decode.string });

/** `(swank:eval-and-grab-output "SOURCE")`: evaluates the first form of a source text. Needs nothing but Swank. */
export const evalAndGrabOutput = {
  name: "swank:eval-and-grab-output",
  encode: (source: string) => list(symbol("swank:eval-and-grab-output"), source),
  decode: grabbed,
} satisfies Command<[source: string], GrabbedOutput>;
