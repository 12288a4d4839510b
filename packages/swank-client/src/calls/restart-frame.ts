import { lispFunction } from "../lisp/descriptor.js";
import { evaluationFailed, noFrame, nothing, notRestartable } from "./stop-refusals.js";

/** Calls the function of a frame again (lisp/debugger/frames.lisp). The thread leaves the stop. */
export const restartFrame = lispFunction({
  name: "restart-frame",
  where: "stopped-thread",
  module: "debugger",
  encode: (level: number, frame: number) => [level, frame],
  decode: nothing,
  unwound: () => undefined,
  refusals: {
    "no-frame": (_level: number, frame: number) => noFrame(frame),
    "not-restartable": (_level: number, frame: number) => notRestartable(frame),
    error: () => evaluationFailed,
  },
  label: (_level, frame) => `Restarting frame ${frame}`,
});
