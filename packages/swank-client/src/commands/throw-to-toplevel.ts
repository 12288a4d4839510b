import { list, symbol } from "sexp-parser";
import type { Command } from "./command.js";
import { refusal, type Unwinding, unwound } from "./unwinding.js";

/**
 * `(swank:throw-to-toplevel)`: aborts the request that a stopped thread is working on. Runs on that thread.
 */
export const throwToToplevel = {
  name: "swank:throw-to-toplevel",
  encode: () => list(symbol("swank:throw-to-toplevel")),
  decode: refusal,
  unwound,
} satisfies Command<[], Unwinding>;
