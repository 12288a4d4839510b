import { lispFunction } from "../lisp/descriptor.js";
import { refusal, unwound } from "./unwinding.js";

/**
 * `(swank:invoke-nth-restart-for-emacs LEVEL N)`: invokes a restart, counted from 0. Runs on the stopped thread.
 *
 * Does nothing if the thread is at another level. A restart that needs arguments requests them with `:read-string`.
 */
export const invokeNthRestartForEmacs = lispFunction({
  name: "swank:invoke-nth-restart-for-emacs",
  where: "stopped-thread",
  encode: (level: number, restart: number) => [level, restart],
  decode: refusal,
  unwound,
});
