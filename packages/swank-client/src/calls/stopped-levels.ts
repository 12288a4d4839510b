import { decode, keyword, list, quote, type Sexp, symbol } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { LIST_TIME } from "./foreign-stops.js";

const THREADS = list(symbol("sb-thread:list-all-threads"));
const AS_MANY = list(symbol("cl:length"), THREADS);

const ARGUMENTS: readonly Sexp[] = [
  quote(symbol("sb-thread:symbol-value-in-thread")),
  list(symbol("cl:make-list"), AS_MANY, keyword("initial-element"), quote(symbol("swank::*sldb-level*"))),
  THREADS,
  list(symbol("cl:make-list"), AS_MANY),
];

/** Each thread's level in Swank's debugger, 0 outside it. Calls only functions that every image has, so that nothing is loaded. */
export const stoppedLevels = lispFunction({
  name: "cl:mapcar",
  encode: () => ARGUMENTS,
  // NIL for a thread that has never been in the debugger
  decode: decode.list(decode.map(decode.nullable(decode.integer), (level) => level ?? 0)),
  timeout: LIST_TIME,
  label: () => "stopped threads",
});
