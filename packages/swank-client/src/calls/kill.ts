import { lispFunction } from "../lisp/descriptor.js";
import { CONTROL_TIME, threadOfEvaluation } from "./interrupt.js";

/** Ends the thread of an evaluation by force: its cleanup forms may not run. */
export const kill = lispFunction({
  name: "kill",
  module: "evaluate",
  encode: (id: number) => [id],
  decode: threadOfEvaluation,
  timeout: CONTROL_TIME,
});
