import { decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";

const { list, map, nullable, string, tuple } = decode;

/** What a path can name instead of a file: a folder, or a pipe or device. */
const NO_FILES = ["folder", "special"] as const;

/** There is no such file; `similar` are names of files that are like it. `reason` tells what else the path names. */
export interface FileNotFound {
  readonly status: "file-not-found";
  readonly file: string;
  readonly similar: readonly string[];
  readonly reason: (typeof NO_FILES)[number] | undefined;
}

/** The decoder by tag of the reply to a question about a file that is not there (`missing-file` in lisp/code/show-file.lisp). */
export const fileNotFound = {
  "file-not-found": map(
    tuple(string, list(string), nullable(keywordOf(NO_FILES))),
    ([file, similar, reason]): FileNotFound => ({ status: "file-not-found", file, similar, reason }),
  ),
};
