import { keyword, type Sexp } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { programThreads } from "./program-thread.js";

/** Milliseconds that the image has to describe its threads. */
const LIST_TIME = 20_000;

/** The thread `id`, or the threads whose names contain `name`, with so many frames each (lisp/program/list-threads.lisp). */
export const threadsOfProgram = lispFunction({
  name: "list-threads",
  module: "program",
  encode: (id: number | undefined, name: string | undefined, frames: number): readonly Sexp[] => [
    ...(id === undefined ? [] : [keyword("id"), id]),
    ...(name === undefined ? [] : [keyword("name"), name]),
    keyword("frames"),
    frames,
  ],
  decode: programThreads,
  timeout: LIST_TIME,
  label: () => "describing threads",
});
