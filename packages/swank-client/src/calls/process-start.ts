import { decode, read } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** Fields up to and including the program's name. The name, in parentheses, may contain any character; see proc(5). */
const FIELDS_BEFORE = 2;
const START_FIELD = 22;

const FORM = read(
  '(cl:ignore-errors (cl:with-open-file (stream "/proc/self/stat" :external-format :latin-1) (cl:read-line stream)))',
);

/**
 * When the image's process started, in the system's clock ticks; `undefined` if the system does not say.
 *
 * Together with the process id it identifies an image: images in different containers can have the same process id.
 */
export const processStart = lispFunction({
  name: "cl:identity",
  label: () => "the start of the image's process",
  encode: () => [FORM],
  decode: decode.map(decode.nullable(decode.string), (line) =>
    line
      ?.slice(line.lastIndexOf(")") + 2)
      .split(" ")
      .at(START_FIELD - FIELDS_BEFORE - 1),
  ),
});
