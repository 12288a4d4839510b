import { type Decoder, decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** A local variable of a frame. */
export interface WireLocal {
  readonly name: string;
  /** Distinguishes variables with the same name in one frame, from 0. */
  readonly id: number;
  /** Its value as printed, one line of at most 200 characters. */
  readonly value: string;
}

/** Variables and catch tags of a frame. */
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
 * `(swank:frame-locals-and-catch-tags INDEX)`: the variables that the compiler kept, and the frame's catch tags.
 *
 * Runs on the stopped thread. An index without a frame signals an error inside the debugger, which stops the thread one level deeper.
 */
export const frameLocalsAndCatchTags = lispFunction({
  name: "swank:frame-locals-and-catch-tags",
  where: "stopped-thread",
  encode: (frame: number) => [frame],
  decode: contents,
});
