import { type Decoder, decode, list, symbol } from "sexp-parser";
import type { Command } from "./command.js";

/** A local variable of a frame. */
export interface WireLocal {
  readonly name: string;
  /** Tells variables of the same name in one frame apart, from 0. */
  readonly id: number;
  /** Its value as printed, one line of at most 200 characters. */
  readonly value: string;
}

/** What a frame holds. */
export interface FrameContents {
  readonly locals: readonly WireLocal[];
  /** As printed, e.g. `DONE`. */
  readonly catchTags: readonly string[];
}

const { integer, string } = decode;

const contents: Decoder<FrameContents> = decode.record({
  locals: decode.list(decode.plist({ name: string, id: integer, value: string })),
  catchTags: decode.list(string),
});

/**
 * `(swank:frame-locals-and-catch-tags INDEX)`: the variables that the compiler kept, and the catch tags established there.
 *
 * Runs on the stopped thread. An index that no frame has is an error inside the debugger, and stops the thread one level deeper.
 */
export const frameLocalsAndCatchTags = {
  name: "swank:frame-locals-and-catch-tags",
  encode: (frame: number) => list(symbol("swank:frame-locals-and-catch-tags"), frame),
  decode: contents,
} satisfies Command<[frame: number], FrameContents>;
