import { decode, type Sexp } from "sexp-parser";
import { SwankError } from "../errors.js";
import type { Restart } from "../evaluation/outcome.js";

const { map, string, tagged, tuple } = decode;

/** The error that a restart's refusal means: `(:stale)`, `(:no-restart)`, `(:wrong-count LAMBDA-LIST)`, `(:bad-argument TEXT)`. */
export function restartRefusal(reply: Sexp, { name, index }: Restart): SwankError {
  const refusal = tagged({
    stale: map(tuple(), () => new SwankError("STALE_SESSION", `restart ${name}: The thread has left that stop.`)),
    "no-restart": map(tuple(), () => new SwankError("NO_SUCH_RESTART", `There is no restart ${index} at this stop.`)),
    "wrong-count": map(tuple(string), ([parameters]) =>
      new SwankError("INVALID_ARGUMENT", `The restart ${name} takes the arguments ${parameters}.`, {
        remedy: "Give one Lisp expression for each of them.",
      }),
    ),
    "bad-argument": map(tuple(string), ([message]) =>
      new SwankError("INVALID_ARGUMENT", `A value for the restart ${name} could not be evaluated: ${message}`, {
        remedy: "Correct the expression; the thread is still stopped as it was.",
      }),
    ),
  });
  return refusal(reply);
}
