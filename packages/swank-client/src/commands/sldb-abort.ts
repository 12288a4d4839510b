import { list, symbol } from "sexp-parser";
import type { Command } from "./command.js";
import { refusal, type Unwinding, unwound } from "./unwinding.js";

/**
 * `(swank:sldb-abort)`: leaves the innermost level of the debugger, by its first ABORT restart. Runs on the stopped thread.
 *
 * Swank up to 2.31 signals an error when there is no such restart.
 */
export const sldbAbort = {
  name: "swank:sldb-abort",
  encode: () => list(symbol("swank:sldb-abort")),
  decode: refusal,
  unwound,
} satisfies Command<[], Unwinding>;
