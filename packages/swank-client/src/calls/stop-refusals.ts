import { DecodeError, type Decoder, decode } from "sexp-parser";
import { shownValue } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { keywordOf } from "../lisp/decoders.js";
import type { StopData } from "./stop-data.js";

const { boolean, integer, list, map, nullable, optional, string, tuple } = decode;

/** The reply of a function that makes its thread leave the stop: such a function replies only with refusals. */
export const nothing: Decoder<undefined> = (datum) => {
  throw new DecodeError("a refusal", datum);
};

/** `(:no-frame TOTAL)` */
export const noFrame = (frame: number): Decoder<SwankError> =>
  map(
    tuple(integer),
    ([total]) => new SwankError("NO_SUCH_FRAME", `There is no frame ${frame}; there are frames 0 to ${total - 1}.`),
  );

/** Why a frame can be neither restarted nor returned from: what follows its function's name in the message. */
const FRAME_REFUSALS = {
  toplevel: "is below the code of the evaluation",
  "no-tag": "was compiled without debug information",
  local: "is a local function, a lambda expression or a cleanup form, which SBCL cannot call or leave by itself",
  method: "is a method that others run before, after or around, so calling the generic function would run those again",
  arguments: "has arguments whose values the compiler dropped",
  count: "now takes another number of arguments",
  undefined: "is not defined any more",
  "not-begun": "has not begun: a breakpoint stopped the call before it. Continue instead",
} as const;

const REASONS = [
  "toplevel",
  "no-tag",
  "local",
  "method",
  "arguments",
  "count",
  "undefined",
  "not-begun",
] as const satisfies (keyof typeof FRAME_REFUSALS)[];

/** `(:not-restartable REASON FUNCTION [OUTER-INDEX OUTER-CALL])`, of a frame to restart */
export const notRestartable = (frame: number): Decoder<SwankError> => notLeft(frame, "restarted", "Restart");

/** `(:not-returnable REASON FUNCTION [OUTER-INDEX OUTER-CALL])`, of a frame to return from */
export const notReturnable = (frame: number): Decoder<SwankError> => notLeft(frame, "returned from", "Return from");

function notLeft(frame: number, done: string, act: string): Decoder<SwankError> {
  return map(
    tuple(keywordOf(REASONS), string, optional(integer), optional(string)),
    ([reason, name, outer, call]) =>
      new SwankError("NOT_RESTARTABLE", `Frame ${frame} cannot be ${done}: ${name} ${FRAME_REFUSALS[reason]}.`, {
        remedy: `${outer === undefined ? "Use a restart of the stop" : `${act} the outer frame ${outer}, ${call}`}; the stop is unchanged.`,
      }),
  );
}

/** `(:error TYPE MESSAGE [PACKAGE [SET]])` of code that was evaluated in a frame; PACKAGE is the one in which it was read. */
export const evaluationFailed: Decoder<SwankError> = map(
  tuple(string, string, optional(string), optional(list(string))),
  ([type, message, packageName, set]) =>
    new SwankError("FRAME_EVALUATION_FAILED", `${type}: ${message}`, {
      remedy:
        packageName &&
        `The code was read in package ${packageName}. Correct it and evaluate it again; the stop is unchanged.${alreadySet(set)}`,
    }),
);

/** `(:no-such-package)`: there is no package to read the code in. */
export const noSuchPackage = (name: string): Decoder<SwankError> =>
  map(tuple(), () => new SwankError("NO_SUCH_PACKAGE", `There is no package named ${name}.`));

/** `(:interrupted [SET])`: the expressions were interrupted. */
export const codeInterrupted: Decoder<SwankError> = map(
  tuple(optional(list(string))),
  ([set]) =>
    new SwankError("FRAME_EVALUATION_TIMEOUT", "The code was interrupted.", {
      remedy: set && `Evaluate code that takes less time, or allow more time.${alreadySet(set)}`,
    }),
);

/** What code that ended early has changed in its frame. */
function alreadySet(names: readonly string[] = []): string {
  return names.length === 0 ? "" : ` The code has already set ${names.join(", ")}.`;
}

/** `(:wrong-count FEWEST MOST ASKS-P)`, of a restart. */
export const wrongCount = (name: string): Decoder<SwankError> =>
  map(tuple(integer, nullable(integer), boolean), ([fewest, most, asks]) => {
    const values =
      most === 0
        ? "Invoke it without values; if its code reads them, give them as stdin"
        : "Give one Lisp expression for each value";
    const text = asks ? ", or the text that the restart reads as stdin" : "";
    return new SwankError("INVALID_ARGUMENT", `The restart ${name} takes ${count(fewest, most)}.`, {
      remedy: `${values}${text}. The stop is unchanged.`,
    });
  });

/** `(:no-input)`: the thread reads from the image's own streams. */
export const noInput: Decoder<SwankError> = map(
  tuple(),
  () =>
    new SwankError(
      "INVALID_ARGUMENT",
      "This thread runs no evaluation: its code does not read what a client gives as stdin.",
      {
        remedy: "Leave stdin out. The stop is unchanged.",
      },
    ),
);

/** The error for an index that is not in a stop's restart list. */
export function noRestart(index: number, count: number): SwankError {
  const message = `There is no restart ${shownValue(index)}; there are restarts 0 to ${count - 1}.`;
  return new SwankError("NO_SUCH_RESTART", message);
}

/** The error for every request to a stop that has ended. */
export function leftStop(label: string, { thread, level, owner }: StopData): SwankError {
  const remedy = owner && `It resumed in ${owner.text}. foreignStops lists the current stops.`;
  const message = `${label}: Thread ${thread} has left the stop at level ${level}.`;
  return new SwankError("STALE_SESSION", message, { remedy });
}

/** The error for a restart that returned instead of leaving the stop, which `restart-bind` permits. */
export function restartReturned(name: string): SwankError {
  return new SwankError(
    "REQUEST_ABORTED",
    `The restart ${name} returned instead of transferring control: the thread is still stopped.`,
    {
      remedy: "Choose another restart to continue.",
    },
  );
}

/** `(:no-restart)`: the stop has no restart with that name, although Lisp usually offers it. */
export const lacks = (name: string): Decoder<SwankError> =>
  map(tuple(), () => new SwankError("NO_SUCH_RESTART", `This stop has no ${name} restart.`));

function count(fewest: number, most: number | undefined): string {
  if (most === 0) return "no values";
  const values = (most ?? fewest) === 1 ? "value" : "values";
  if (most === undefined) return `at least ${fewest} ${values}`;
  return fewest === most ? `${most} ${values}` : `${fewest} to ${most} ${values}`;
}
