import { lispFunction } from "../lisp/descriptor.js";
import { CONTROL_TIME, threadOfEvaluation } from "./interrupt.js";

/** Unwinds an evaluation. */
export const abortEvaluation = lispFunction({
  name: "abort-evaluation",
  module: "evaluate",
  encode: (id: number) => [id],
  decode: threadOfEvaluation,
  timeout: CONTROL_TIME,
  label: () => "abort",
});
