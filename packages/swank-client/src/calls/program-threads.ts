import { keyword, type Sexp } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { programThreads } from "./program-thread.js";

/** Milliseconds that the image has to describe its threads. */
const LIST_TIME = 20_000;

/** The threads whose names contain `name`, with so many frames each (lisp/program/list-threads.lisp). */
export const threadsOfProgram = lispFunction({
  name: "list-threads",
  module: "program",
  encode: (name: string | undefined, frames: number): readonly Sexp[] => [
    ...(name === undefined ? [] : [keyword("name"), name]),
    keyword("frames"),
    frames,
  ],
  decode: programThreads,
  timeout: LIST_TIME,
  label: () => "describing threads",
});
