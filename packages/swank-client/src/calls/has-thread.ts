import { decode, keyword, list, quote, symbol } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** Milliseconds that the image has to look for the thread. */
const LOOKUP_TIME = 10_000;

const THREAD_ID = quote(symbol("swank/backend:thread-id"));

/** Whether the image has a thread with this Swank id. Avoids `list-threads`, which replaces the list that other clients index. */
export const hasThread = lispFunction({
  // The protocol cannot send a thread object.
  name: "cl:null",
  encode: (id: number) => [
    list(symbol("cl:find"), id, list(symbol("swank/backend:all-threads")), keyword("key"), THREAD_ID),
  ],
  decode: decode.map(decode.boolean, (isMissing) => !isMissing),
  timeout: LOOKUP_TIME,
  label: () => "looking for a thread",
});
