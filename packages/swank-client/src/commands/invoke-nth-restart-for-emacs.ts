import { list, symbol } from "sexp-parser";
import type { Command } from "./command.js";
import { refusal, type Unwinding, unwound } from "./unwinding.js";

/**
 * `(swank:invoke-nth-restart-for-emacs LEVEL N)`: invokes a restart, counted from 0. Runs on the stopped thread.
 *
 * Does nothing when the thread is at another level by now. A restart that wants arguments asks for them by `read-string`.
 */
export const invokeNthRestartForEmacs = {
  name: "swank:invoke-nth-restart-for-emacs",
  encode: (level: number, restart: number) => list(symbol("swank:invoke-nth-restart-for-emacs"), level, restart),
  decode: refusal,
  unwound,
} satisfies Command<[level: number, restart: number], Unwinding>;
