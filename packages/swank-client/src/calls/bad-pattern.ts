import { decode } from "sexp-parser";
import type { BadPattern } from "./found-names.js";

const { map, string, tuple } = decode;

/** The decoder by tag of the reply to a search for a text that is no regular expression (`with-searcher` in lisp/code/regex.lisp). */
export const badPattern = {
  "bad-pattern": map(tuple(string), ([reason]): BadPattern => ({ status: "bad-pattern", reason })),
};
