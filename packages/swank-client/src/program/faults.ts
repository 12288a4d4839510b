import { type Decoded, decode, read } from "sexp-parser";
import { lispFunction } from "../runtime/function.js";
import { runtimeModule } from "../runtime/runtime.js";

const { integer, list, map, record, string } = decode;

/** The Unix epoch as a universal time. */
const EPOCH = 2_208_988_800;

const fault = record({
  /** Counts the faults of the image, from 1. */
  number: integer,
  /** Milliseconds since the epoch. */
  time: map(integer, (seconds) => (seconds - EPOCH) * 1000),
  /** The class of the error. */
  type: string,
  /** The error's message; empty if it needs code of the user. */
  text: string,
  /** Functions of the library that ran, innermost first. */
  functions: list(string),
});

/** A failure of this library's own code in the image, which did not break the call around it. Its texts show no objects of the user. */
export interface Fault extends Decoded<typeof fault> {}

/** The latest faults of this version's code in the image, oldest first, at most 100. Loads nothing. */
export const recentFaults = lispFunction({
  name: "cl:and",
  label: () => "listing faults",
  encode: () => [
    read(
      `(cl:let* ((package (cl:find-package "SWANK-CLIENT/SBCL-FAULTS/${runtimeModule("connection").version}"))
                 (function (cl:and package (cl:find-symbol "RECENT-FAULTS" package))))
         (cl:and function (cl:fboundp function) (cl:funcall function)))`,
    ),
  ],
  decode: list<Fault>(fault),
  timeout: 5000,
});
