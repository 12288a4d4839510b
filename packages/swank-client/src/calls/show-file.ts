import { type Decoder, decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { CODE_TIME } from "./code-time.js";
import type { ShownFile } from "./definition-text.js";
import { fileNotFound } from "./file-not-found.js";

const { boolean, integer, list, map, nullable, string, tagged, tuple } = decode;

const definition = map(tuple(integer, string), ([line, text]) => ({ line, text }));

const answer: Decoder<ShownFile> = tagged({
  file: map(
    tuple(string, integer, integer, list(string), nullable(definition), boolean),
    ([file, count, first, lines, within, changed]): ShownFile => ({
      status: "found",
      file,
      count,
      first,
      lines,
      definition: within,
      changed,
    }),
  ),
  ...fileNotFound,
  "file-unreadable": map(tuple(string), ([file]): ShownFile => ({ status: "file-unreadable", file })),
});

/** Lines of a file around one line (lisp/code/show-file.lisp). */
export const showFile = lispFunction({
  name: "show-file",
  module: "code",
  encode: (file: string, line: number, context: number) => [file, line, context],
  decode: answer,
  timeout: CODE_TIME,
  label: () => "showing a file",
});
