import { lispFunction } from "../lisp/descriptor.js";
import { lacks, nothing, wrongCount } from "./stop-refusals.js";

/** Resumes a stopped thread (lisp/debugger/stepping.lisp). The thread leaves the stop. */
export const continueStop = lispFunction({
  name: "continue-stop",
  where: "stopped-thread",
  module: "debugger",
  encode: (level: number) => [level],
  decode: nothing,
  unwound: () => undefined,
  refusals: { "no-restart": () => lacks("CONTINUE"), "wrong-count": () => wrongCount("CONTINUE") },
  label: () => "continue",
});
