import { list, symbol } from "sexp-parser";
import type { Command } from "./command.js";
import { refusal, type Unwinding, unwound } from "./unwinding.js";

/**
 * `(swank:sldb-continue)`: goes on, by the first CONTINUE restart. Runs on the stopped thread.
 *
 * Swank up to 2.31 signals an error when there is no such restart.
 */
export const sldbContinue = {
  name: "swank:sldb-continue",
  encode: () => list(symbol("swank:sldb-continue")),
  decode: refusal,
  unwound,
} satisfies Command<[], Unwinding>;
