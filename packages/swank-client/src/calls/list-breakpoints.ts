import { decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { BREAKPOINT_TIME, breakpoint } from "./breakpoint.js";

/** Lists the client's breakpoints in the order in which they were set (lisp/debugger/breakpoints.lisp). */
export const listBreakpoints = lispFunction({
  name: "list-breakpoints",
  module: "debugger",
  decode: decode.list(breakpoint),
  timeout: BREAKPOINT_TIME,
  label: () => "listing breakpoints",
});
