import { decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** Milliseconds that the image has to answer. */
const ANSWER_TIME = 30_000;

/** Interrupts the evaluation named `attempt` in a stopped thread; false if there is no such thread (lisp/stops/attempt.lisp). */
export const endAttempt = lispFunction({
  name: "end-attempt",
  module: "evaluate",
  encode: (thread: number, attempt: string) => [thread, attempt],
  decode: decode.boolean,
  timeout: ANSWER_TIME,
  label: () => "interrupting an evaluation",
});
