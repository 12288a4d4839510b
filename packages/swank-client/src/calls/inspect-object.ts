import { type Decoder, decode, keyword, quote, type Sexp, T } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { lispFunction } from "../lisp/descriptor.js";
import { objectView } from "./object-view.js";

/** Milliseconds that the image has to describe an object. */
const INSPECT_TIME = 20_000;

const { boolean, integer, map, nullable, string, tuple } = decode;

/** The part of an object to describe, and how much of it. */
export interface InspectCall {
  readonly id: number;
  /** Indexes of parts, from the object to the part. */
  readonly path: readonly number[];
  readonly expression: string | undefined;
  readonly start: number;
  readonly count: number;
  readonly depth: number;
  readonly keep: boolean;
}

/** `(:no-object ID TEXT)` */
export const noObject: Decoder<SwankError> = map(
  tuple(integer, nullable(string)),
  ([id, text]) => new SwankError("NO_SUCH_OBJECT", text ?? `There is no object ${id}.`),
);

/** `(:no-part INDEX COUNT)` */
const noPart: Decoder<SwankError> = map(tuple(integer, integer), ([index, count]) => {
  const known = count === 0 ? "It has no parts." : `It has parts 0 to ${count - 1}; unbound slots have no value.`;
  return new SwankError("INVALID_ARGUMENT", `There is no part ${index}. ${known}`);
});

/** Describes a numbered object, or a part of it (lisp/inspect-object/inspect-object.lisp). */
export const inspectObject = lispFunction({
  name: "inspect-object",
  module: "inspect-object",
  encode: ({ id, path, expression, start, count, depth, keep }: InspectCall): readonly Sexp[] => [
    id,
    quote(path),
    ...(expression === undefined ? [] : [keyword("expression"), expression]),
    keyword("start"),
    start,
    keyword("count"),
    count,
    keyword("depth"),
    depth,
    ...(keep ? [keyword("keep"), T] : []),
  ],
  decode: decode.tagged({ object: objectView }),
  refusals: { "no-object": () => noObject, "no-part": () => noPart },
  timeout: INSPECT_TIME,
  label: () => "inspecting an object",
});

/** No longer keeps a numbered object alive. => whether it was kept */
export const releaseObject = lispFunction({
  name: "release-object",
  module: "inspect-object",
  encode: (id: number) => [id],
  decode: boolean,
  label: () => "releasing an object",
});
