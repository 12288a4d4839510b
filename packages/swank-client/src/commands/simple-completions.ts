import { type Decoder, decode, list, symbol } from "sexp-parser";
import type { Command } from "./command.js";

const { any, map, string, tuple, tupleRest } = decode;

/** Up to 2.31: `(NAMES COMMON-PREFIX)`, the names `nil` when there are none; since 2.32 a list of `(NAME . DETAILS)`. */
const names: Decoder<readonly string[]> = decode.oneOf(
  map(tuple(decode.list(string), string), ([found]) => found),
  decode.list(map(tupleRest([string], any), ([name]) => name)),
);

/**
 * `(swank:simple-completions "PREFIX" "PACKAGE")`: the symbols that begin so, as one would write them in that package: `car`, `cl:car`,
 * `:key`. Lower case, unless the readtable says otherwise. Unsorted in some versions. An unknown package counts as the current one.
 */
export const simpleCompletions = {
  name: "swank:simple-completions",
  encode: (prefix: string, packageName: string) => list(symbol("swank:simple-completions"), prefix, packageName),
  decode: names,
} satisfies Command<[prefix: string, packageName: string], readonly string[]>;
