import { decode, NIL } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { frame } from "../protocol/wire/message-decoders.js";

/**
 * `(swank:backtrace START END)`: the frames from `start` to `end` (exclusive), or to the last one without `end`.
 *
 * Runs on the stopped thread. An exhausted stack has tens of thousands of frames: give an end.
 */
export const backtrace = lispFunction({
  name: "swank:backtrace",
  where: "stopped-thread",
  encode: (start: number, end?: number) => [start, end ?? NIL],
  decode: decode.list(frame),
});
