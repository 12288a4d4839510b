import { type Decoder, decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { lacks, restartReturned } from "./stop-refusals.js";
import { throwToToplevel } from "./throw-to-toplevel.js";

/** Every reply means that the thread is still stopped. */
const stillStopped: Decoder<undefined> = decode.map(decode.any, () => {
  throw restartReturned("ABORT");
});

/** Unwinds a stopped thread to where its request began (lisp/evaluate/control.lisp). */
export const abortStop = lispFunction({
  name: "abort-stop",
  where: "stopped-thread",
  module: "evaluate",
  decode: stillStopped,
  unwound: () => undefined,
  refusals: { "no-restart": () => lacks("ABORT") },
  label: () => throwToToplevel.name,
});

/** Does the same in an image without the runtime. */
export const abortPlainStop = lispFunction({ ...throwToToplevel, decode: stillStopped, unwound: () => undefined });
