import { decode, NIL, T } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { type Saves, save } from "./change.js";
import { CODE_TIME } from "./code-time.js";
import { fileNotFound } from "./file-not-found.js";
import { nameNotFound } from "./name-not-found.js";

const { list, map, string, tagged, tuple } = decode;

/** Writes definitions to their files, or only says what would be written (lisp/code/save-changes.lisp). */
export const saveChanges = lispFunction({
  name: "save-changes",
  module: "code",
  encode: (name: string | undefined, file: string | undefined, dryRun: boolean) => [
    name ?? NIL,
    file ?? NIL,
    dryRun ? T : NIL,
  ],
  decode: tagged({
    saves: map(tuple(list(save)), ([saves]): Saves => ({ status: "found", saves })),
    undefined: map(tuple(string), ([name]): Saves => ({ status: "undefined", name })),
    ...fileNotFound,
    ...nameNotFound,
  }),
  timeout: CODE_TIME,
  label: () => "saving changes",
});
