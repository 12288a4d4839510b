import { lispFunction } from "../lisp/descriptor.js";
import { refusal, unwound } from "./unwinding.js";

/**
 * `(swank:sldb-abort)`: leaves the innermost debugger level through its first ABORT restart. Runs on the stopped thread.
 *
 * Swank up to 2.31 signals an error if there is no such restart.
 */
export const sldbAbort = lispFunction({
  name: "swank:sldb-abort",
  where: "stopped-thread",
  decode: refusal,
  unwound,
});
