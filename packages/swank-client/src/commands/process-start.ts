import { decode, read } from "sexp-parser";
import type { Command } from "./command.js";

/** Fields of the line come after the program's name, which stands in parentheses and may hold any character; see proc(5). */
const FIELDS_BEFORE = 2;
const START_FIELD = 22;

const FORM = read(
  '(cl:ignore-errors (cl:with-open-file (stream "/proc/self/stat" :external-format :latin-1) (cl:read-line stream)))',
);

/**
 * When the image's process started, in the system's own count; `undefined` where the system does not say. With the process id it tells an
 * image from every other one: in a container each of them may have the same id.
 */
export const processStart = {
  name: "the start of the image's process",
  encode: () => FORM,
  decode: decode.map(decode.nullable(decode.string), (line) =>
    line
      ?.slice(line.lastIndexOf(")") + 2)
      .split(" ")
      .at(START_FIELD - FIELDS_BEFORE - 1),
  ),
} satisfies Command<[], string | undefined>;
