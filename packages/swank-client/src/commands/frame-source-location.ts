import { list, symbol } from "sexp-parser";
import type { Command } from "./command.js";
import { location, type SourceLocation } from "./location.js";

/** `(swank:frame-source-location INDEX)`: what a frame is running. Runs on the stopped thread. */
export const frameSourceLocation = {
  name: "swank:frame-source-location",
  encode: (frame: number) => list(symbol("swank:frame-source-location"), frame),
  decode: location,
} satisfies Command<[frame: number], SourceLocation>;
