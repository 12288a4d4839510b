import type { Sexp } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { type StopReport, stopReport } from "./stop-data.js";

/** Describes a stop in another client's debugger (lisp/debugger/foreign-stops.lisp), whose identity is known from the list. */
export const describeForeignStop = lispFunction({
  name: "describe-foreign-stop",
  where: "stopped-thread",
  module: "debugger",
  decode: (datum: Sexp): Omit<StopReport, "number" | "threadName"> => {
    const { number, threadName, ...report } = stopReport(datum);
    return report;
  },
  label: () => "describing a stop",
});
