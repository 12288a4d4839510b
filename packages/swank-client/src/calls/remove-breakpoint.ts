import { decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { BREAKPOINT_TIME } from "./breakpoint.js";

/** Removes one of the client's breakpoints; false if there is none with that id (lisp/debugger/breakpoints.lisp). */
export const removeBreakpoint = lispFunction({
  name: "remove-breakpoint",
  module: "debugger",
  encode: (id: number) => [id],
  decode: decode.boolean,
  timeout: BREAKPOINT_TIME,
  label: () => "removing a breakpoint",
});
