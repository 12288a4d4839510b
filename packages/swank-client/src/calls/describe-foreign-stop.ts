import { lispFunction } from "../lisp/descriptor.js";
import { stopReport } from "./stop-data.js";

/** Describes a stop in another client's debugger (lisp/debugger/foreign-stops.lisp). */
export const describeForeignStop = lispFunction({
  name: "describe-foreign-stop",
  where: "stopped-thread",
  module: "debugger",
  decode: stopReport,
  label: () => "describing a stop",
});
