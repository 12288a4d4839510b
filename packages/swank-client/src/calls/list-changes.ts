import { decode, NIL } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { type Changes, change, fileState } from "./change.js";
import { CODE_TIME } from "./code-time.js";
import { fileNotFound } from "./file-not-found.js";

const { integer, list, map, nullable, string, tagged, tuple } = decode;

const assigned = map(tuple(string, string, nullable(string)), ([name, value, file]) => ({ name, value, file }));

/** The differences between the image and `file`, by default all its files (lisp/code/list-changes.lisp). */
export const listChanges = lispFunction({
  name: "list-changes",
  module: "code",
  encode: (file: string | undefined) => [file ?? NIL],
  decode: tagged({
    changes: map(
      tuple(list(change), integer, list(fileState), list(assigned)),
      ([changes, leftOut, files, variables]): Changes => ({
        status: "found",
        changes,
        leftOut,
        files,
        assigned: variables,
      }),
    ),
    ...fileNotFound,
  }),
  timeout: CODE_TIME,
  label: () => "listing changes",
});
