import { lispFunction } from "../lisp/descriptor.js";
import { refusal, unwound } from "./unwinding.js";

/**
 * `(swank:throw-to-toplevel)`: aborts the request that a stopped thread is serving. Runs on that thread.
 */
export const throwToToplevel = lispFunction({
  name: "swank:throw-to-toplevel",
  where: "stopped-thread",
  decode: refusal,
  unwound,
});
