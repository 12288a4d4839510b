import { decode, quote } from "sexp-parser";
import { checkTexts } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { lispFunction } from "../lisp/descriptor.js";
import type { Restart } from "./condition.js";
import { codeInterrupted, noInput, nothing, restartReturned, wrongCount } from "./stop-refusals.js";

const { map, string, tuple } = decode;

/** Leaves a stop through a restart with the values of expressions (lisp/evaluate/control.lisp). `attempt`: see `evalInFrame`. */
export const invokeRestart = lispFunction({
  name: "invoke-offered-restart",
  where: "stopped-thread",
  module: "evaluate",
  encode: (level: number, { index }: Restart, attempt: string, values: readonly string[], stdin?: string) => {
    checkTexts("values", values);
    return [level, index, attempt, quote(values), ...(stdin === undefined ? [] : [stdin])];
  },
  decode: nothing,
  unwound: () => undefined,
  refusals: {
    "no-restart": (_level: number, { index }: Restart) =>
      map(tuple(), () => new SwankError("NO_SUCH_RESTART", `There is no restart ${index} at this stop.`)),
    "wrong-count": (_level: number, { name }: Restart) => wrongCount(name),
    "no-input": () => noInput,
    returned: (_level: number, { name }: Restart) => map(tuple(), () => restartReturned(name)),
    error: (_level: number, { name }: Restart) =>
      map(tuple(string, string), ([type, message]) => badValue(name, `${type}: ${message}`)),
    interrupted: () => codeInterrupted,
  },
  label: (_level, { name }) => `Restart ${name}`,
});

function badValue(name: string, message: string): SwankError {
  return new SwankError("INVALID_ARGUMENT", `A value for the restart ${name} could not be evaluated: ${message}`, {
    remedy: "Correct the expression; the stop is unchanged.",
  });
}
