import { lispFunction } from "../lisp/descriptor.js";
import { lacks, noInput, nothing, wrongCount } from "./stop-refusals.js";

/** Resumes a stopped thread (lisp/debugger/stepping.lisp). The thread leaves the stop. */
export const continueStop = lispFunction({
  name: "continue-stop",
  where: "stopped-thread",
  module: "debugger",
  encode: (level: number, stdin?: string) => [level, ...(stdin === undefined ? [] : [stdin])],
  decode: nothing,
  unwound: () => undefined,
  refusals: {
    "no-restart": () => lacks("CONTINUE"),
    "wrong-count": () => wrongCount("CONTINUE"),
    "no-input": () => noInput,
  },
  label: () => "continue",
});
