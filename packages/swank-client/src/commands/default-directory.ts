import { decode, list, symbol } from "sexp-parser";
import type { Command } from "./command.js";

/** `(swank:default-directory)`: the image's current directory, with a slash at the end. */
export const defaultDirectory = {
  name: "swank:default-directory",
  encode: () => list(symbol("swank:default-directory")),
  decode: decode.string,
} satisfies Command<[], string>;
