import { decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** Prepares the image's functions for the first evaluation, which would wait for it (lisp/evaluate/presence.lisp). It may go on after the reply. */
export const prepareArrival = lispFunction({ name: "prepare-arrival", module: "evaluate", decode: decode.any });
