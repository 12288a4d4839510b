import { type Decoder, decode } from "sexp-parser";
import type { Frame, FrameLocals, FramePage, FrameValue, Source, Variable } from "../debugger/frame.js";
import { printedValues } from "./decode-result.js";
import { frameKind } from "./decode-snapshot.js";

const { boolean, integer, list, map, nullable, plist, string, tagged, tuple } = decode;

/** Why the image did not do what it was asked to do with a frame. The stop is as it was. */
export type FrameRefusal =
  | { readonly kind: "stale" }
  | { readonly kind: "no-frame"; readonly totalFrames: number }
  | { readonly kind: "not-restartable" }
  | { readonly kind: "error"; readonly type: string; readonly message: string };

/** An answer, or the reason why there is none. */
export type FrameReply<Value> = { readonly kind: "value"; readonly value: Value } | FrameRefusal;

const variable: Decoder<Variable> = map(tuple(string, string, integer), ([name, value, objectId]) => ({
  name,
  value,
  objectId,
}));

const source: Decoder<Source> = tagged({
  file: map(tuple(string, nullable(integer), nullable(integer)), ([file, line, column]) => ({ file, line, column })),
  form: map(tuple(string), ([form]) => ({ form })),
});

const frame: Decoder<Frame> = plist({
  index: integer,
  function: string,
  call: string,
  kind: frameKind,
  restartable: boolean,
  source: nullable(source),
  locals: list(variable),
  totalLocals: integer,
});

const refusals = {
  stale: map(tuple(), (): FrameRefusal => ({ kind: "stale" })),
  "no-frame": map(tuple(integer), ([totalFrames]): FrameRefusal => ({ kind: "no-frame", totalFrames })),
  "not-restartable": map(tuple(), (): FrameRefusal => ({ kind: "not-restartable" })),
  error: map(tuple(string, string), ([type, message]): FrameRefusal => ({ kind: "error", type, message })),
};

/** `(:frames (PLIST ...) TOTAL)` (lisp/frames.lisp). */
export const framePage: Decoder<FrameReply<FramePage>> = tagged({
  ...refusals,
  frames: map(tuple(list(frame), integer), ([frames, totalFrames]) => answer({ frames, totalFrames })),
});

/** `(:locals ((NAME VALUE NUMBER) ...) TOTAL (CATCH-TAG ...))` */
export const frameLocals: Decoder<FrameReply<FrameLocals>> = tagged({
  ...refusals,
  locals: map(tuple(list(variable), integer, list(string)), ([locals, totalLocals, catchTags]) =>
    answer({ locals, totalLocals, catchTags }),
  ),
});

/** `(:values (:values (VALUE ...) :count COUNT) OUTPUT)` */
export const frameValue: Decoder<FrameReply<FrameValue>> = tagged({
  ...refusals,
  values: map(tuple(printedValues, string), ([{ values, count }, output]) =>
    answer({ values, valueCount: count, output }),
  ),
});

/** What comes back only from a frame that could not be left. */
export const frameRefusal: Decoder<FrameRefusal> = tagged(refusals);

function answer<Value>(value: Value): { readonly kind: "value"; readonly value: Value } {
  return { kind: "value", value };
}
