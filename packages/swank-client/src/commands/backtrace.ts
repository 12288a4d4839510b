import { decode, list, NIL, symbol } from "sexp-parser";
import { frame } from "../wire/decode-debug.js";
import type { WireFrame } from "../wire/messages.js";
import type { Command } from "./command.js";

/**
 * `(swank:backtrace START END)`: the frames from `start` up to, not including, `end`; all the others without `end`.
 *
 * Runs on the stopped thread. An exhausted stack has tens of thousands of frames: give an end.
 */
export const backtrace = {
  name: "swank:backtrace",
  encode: (start: number, end?: number) => list(symbol("swank:backtrace"), start, end ?? NIL),
  decode: decode.list(frame),
} satisfies Command<[start: number, end?: number], readonly WireFrame[]>;
