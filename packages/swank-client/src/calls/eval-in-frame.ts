import { type Decoder, decode, NIL } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { lispLimit, printedValues } from "./evaluate.js";
import type { FrameValue } from "./frames.js";
import type { OmittedOutput, OutputStream } from "./omitted-output.js";
import { codeInterrupted, evaluationFailed, noFrame, noSuchPackage } from "./stop-refusals.js";

const { integer, list, map, string, tagged, tuple } = decode;

/** `(TEXT COUNT)`: the beginning of what was printed, and the number of other characters. */
function output(stream: OutputStream): Decoder<{ text: string; omitted: readonly OmittedOutput[] }> {
  return map(tuple(string, integer), ([text, count]) => ({
    text,
    omitted: count === 0 ? [] : [{ stream, at: text.length, count }],
  }));
}

/** `(:values (:values (VALUE ...) :cut (CUT ...) :count COUNT) OUTPUT OUTPUT PACKAGE SET)` */
const frameValue: Decoder<FrameValue> = tagged({
  values: map(
    tuple(printedValues, output("stdout"), output("stderr"), string, list(string)),
    ([{ values, cut, count }, stdout, stderr, packageName, set]) => ({
      values,
      cutValues: cut,
      valueCount: count,
      stdout: stdout.text,
      stderr: stderr.text,
      outputOmitted: [...stdout.omitted, ...stderr.omitted],
      package: packageName,
      set,
    }),
  ),
});

/**
 * Evaluates code in a frame of a stop (lisp/debugger/frames.lisp). `attempt` names the evaluation for `endAttempt`. The code is read in
 * `packageName` or, without one, in the package of the frame's function. With `"ids"` as limit, the values are ids under which the image keeps them.
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
    valueLimit: number | "ids" | undefined,
  ) => [level, frame, attempt, code, packageName ?? NIL, ...limits(valueLimit)],
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

function limits(valueLimit: number | "ids" | undefined) {
  if (valueLimit === undefined) return [];
  return [valueLimit === "ids" ? NIL : lispLimit(valueLimit)];
}
