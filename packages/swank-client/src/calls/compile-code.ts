import { decode, NIL, T } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { CODE_TIME } from "./code-time.js";
import { type Compiled, codeFailure, codeNote } from "./compiled-code.js";
import { fileNotFound } from "./file-not-found.js";
import { nameNotFound } from "./name-not-found.js";

const { boolean, integer, list, map, nullable, oneOf, string, tagged, tuple } = decode;

/** A compiled text or file, with the file's text if that cannot be read to its end. */
export interface CompileReply {
  readonly compiled: Compiled;
  readonly text?: string | undefined;
}

const compiled = map(
  tuple(nullable(string), list(codeNote), integer, boolean, oneOf(codeFailure, boolean), nullable(string)),
  ([file, notes, leftOut, failed, loaded, text]): CompileReply => ({
    compiled: {
      status: "compiled",
      file,
      notes,
      leftOut,
      failed,
      loaded: loaded === true,
      loadError: typeof loaded === "boolean" ? undefined : loaded,
    },
    text,
  }),
);

/** Compiles a text or a file in `packageName`, by default the session's package (lisp/code/compile-code.lisp). */
export const compileCode = lispFunction({
  name: "compile-code",
  module: "code",
  encode: (
    source: { readonly code: string } | { readonly file: string },
    packageName: string | undefined,
    load: boolean,
  ) => ["code" in source ? source.code : NIL, "file" in source ? source.file : NIL, packageName ?? NIL, load ? T : NIL],
  decode: tagged({
    compiled,
    failed: map(codeFailure, (failure): CompileReply => ({ compiled: { status: "failed", ...failure } })),
    "file-not-found": map(fileNotFound["file-not-found"], (answer): CompileReply => ({ compiled: answer })),
    "package-not-found": map(nameNotFound["package-not-found"], (answer): CompileReply => ({ compiled: answer })),
  }),
  timeout: CODE_TIME,
  label: () => "compiling",
});
