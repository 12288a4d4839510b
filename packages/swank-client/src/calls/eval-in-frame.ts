import { type Decoder, decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { lispLimit, printedValues } from "./evaluate.js";
import type { FrameValue } from "./frames.js";
import { codeInterrupted, evaluationFailed, noFrame } from "./stop-refusals.js";

const { map, string, tagged, tuple } = decode;

/** `(:values (:values (VALUE ...) :count COUNT) OUTPUT)` */
const frameValue: Decoder<FrameValue> = tagged({
  values: map(tuple(printedValues, string), ([{ values, count }, output]) => ({ values, valueCount: count, output })),
});

/** Evaluates code in a frame of a stop (lisp/debugger/frames.lisp). `attempt` names the evaluation for `endAttempt`. */
export const evalInFrame = lispFunction({
  name: "eval-in-frame",
  where: "stopped-thread",
  module: "debugger",
  encode: (level: number, frame: number, attempt: string, code: string, valueLimit: number | undefined) => [
    level,
    frame,
    attempt,
    code,
    ...(valueLimit === undefined ? [] : [lispLimit(valueLimit)]),
  ],
  decode: frameValue,
  refusals: {
    "no-frame": (_level: number, frame: number) => noFrame(frame),
    error: () => evaluationFailed,
    interrupted: () => codeInterrupted,
  },
  label: (_level, frame) => `Evaluating in frame ${frame}`,
});
