import { decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** Milliseconds that the image has to answer a request about an evaluation. */
export const CONTROL_TIME = 10_000;

/** Swank's id of the evaluation's thread; `undefined` before the evaluation starts and after it ends. */
export const threadOfEvaluation = decode.nullable(decode.integer);

/** Interrupts the thread of an evaluation. `count` numbers the evaluation's interrupts from 1; repeating a number has no effect. */
export const interrupt = lispFunction({
  name: "interrupt",
  module: "evaluate",
  encode: (id: number, count: number) => [id, count],
  decode: threadOfEvaluation,
  timeout: CONTROL_TIME,
});
