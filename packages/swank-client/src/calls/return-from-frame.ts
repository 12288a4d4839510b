import { lispFunction } from "../lisp/descriptor.js";
import { codeInterrupted, evaluationFailed, noFrame, nothing, notReturnable } from "./stop-refusals.js";

/** Returns from a frame with the values of code (lisp/debugger/frames.lisp). The thread leaves the stop. `attempt`: see `evalInFrame`. */
export const returnFromFrame = lispFunction({
  name: "return-from-frame",
  where: "stopped-thread",
  module: "debugger",
  encode: (level: number, frame: number, attempt: string, code: string) => [level, frame, attempt, code],
  decode: nothing,
  unwound: () => undefined,
  refusals: {
    "no-frame": (_level: number, frame: number) => noFrame(frame),
    "not-returnable": (_level: number, frame: number) => notReturnable(frame),
    error: () => evaluationFailed,
    interrupted: () => codeInterrupted,
  },
  label: (_level, frame) => `Returning from frame ${frame}`,
});
