import { lispFunction } from "../lisp/descriptor.js";
import { refusal, unwound } from "./unwinding.js";

/**
 * `(swank:sldb-continue)`: resumes the thread through its first CONTINUE restart. Runs on the stopped thread.
 *
 * Swank up to 2.31 signals an error if there is no such restart.
 */
export const sldbContinue = lispFunction({
  name: "swank:sldb-continue",
  where: "stopped-thread",
  decode: refusal,
  unwound,
});
