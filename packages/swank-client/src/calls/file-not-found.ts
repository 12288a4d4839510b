import { decode } from "sexp-parser";
import type { FileNotFound } from "./change.js";

const { list, map, string, tuple } = decode;

/** The decoder by tag of the reply to a question about a file that is not there (`with-wanted-file` in lisp/code/list-changes.lisp). */
export const fileNotFound = {
  "file-not-found": map(
    tuple(string, list(string)),
    ([file, similar]): FileNotFound => ({ status: "file-not-found", file, similar }),
  ),
};
