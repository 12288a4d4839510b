import { type Decoder, decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

const { any, map, string, tuple, tupleRest } = decode;

/** Up to 2.31: `(NAMES COMMON-PREFIX)`, the names `nil` when there are none; since 2.32 a list of `(NAME . DETAILS)`, or of names. */
export const completionNames: Decoder<readonly string[]> = decode.oneOf(
  map(tuple(decode.list(string), string), ([found]) => found),
  decode.list(
    decode.oneOf(
      string,
      map(tupleRest([string], any), ([name]) => name),
    ),
  ),
);

/**
 * `(swank:simple-completions "PREFIX" "PACKAGE")`: the symbols that begin with the prefix, as code in that package writes them: `car`,
 * `cl:car`, `:key`. Lower case, unless the readtable says otherwise. Unsorted in some versions. An unknown package means the current one.
 */
export const simpleCompletions = lispFunction({
  name: "swank:simple-completions",
  encode: (prefix: string, packageName: string) => [prefix, packageName],
  decode: completionNames,
});
