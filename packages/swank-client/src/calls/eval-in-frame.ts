import { type Decoder, decode, NIL } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { lispLimit, printedValues } from "./evaluate.js";
import type { FrameValue } from "./frames.js";
import { codeInterrupted, evaluationFailed, noFrame, noSuchPackage } from "./stop-refusals.js";

const { map, string, tagged, tuple } = decode;

/** `(:values (:values (VALUE ...) :cut (CUT ...) :count COUNT) STDOUT STDERR PACKAGE)` */
const frameValue: Decoder<FrameValue> = tagged({
  values: map(
    tuple(printedValues, string, string, string),
    ([{ values, cut, count }, stdout, stderr, packageName]) => ({
      values,
      cutValues: cut,
      valueCount: count,
      stdout,
      stderr,
      package: packageName,
    }),
  ),
});

/**
 * Evaluates code in a frame of a stop (lisp/debugger/frames.lisp). `attempt` names the evaluation for `endAttempt`. The code is read in
 * `packageName` or, without one, in the package of the frame's function.
 */
export const evalInFrame = lispFunction({
  name: "eval-in-frame",
  where: "stopped-thread",
  module: "debugger",
  encode: (
    level: number,
    frame: number,
    attempt: string,
    code: string,
    packageName: string | undefined,
    valueLimit: number | undefined,
  ) => [level, frame, attempt, code, packageName ?? NIL, ...(valueLimit === undefined ? [] : [lispLimit(valueLimit)])],
  decode: frameValue,
  refusals: {
    "no-frame": (_level: number, frame: number) => noFrame(frame),
    "no-such-package": (_level, _frame, _attempt, _code, packageName: string | undefined) =>
      noSuchPackage(packageName ?? ""),
    error: () => evaluationFailed,
    interrupted: () => codeInterrupted,
  },
  label: (_level, frame) => `Evaluating in frame ${frame}`,
});
