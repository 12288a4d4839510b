import { type Decoder, decode, keyword } from "sexp-parser";
import { checkChoice } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { lispFunction } from "../lisp/descriptor.js";
import type { StopOwner } from "./stop-owner.js";
import { noInput, nothing } from "./stop-refusals.js";

const { map, string, tagged, tuple } = decode;

/** How to step: into the next call, over it, or out of the function that was stepped into. */
export const STEP_MODES = ["into", "over", "out"] as const;

/** One of `STEP_MODES`. */
export type StepMode = (typeof STEP_MODES)[number];

/** `(:not-steppable REASON [FUNCTION])` */
const notSteppable: Decoder<SwankError> = tagged({
  "no-way-on": map(tuple(), () => refused("This stop cannot be stepped from: it has no CONTINUE restart.")),
  "foreign-thread": map(tuple(), () =>
    refused("This thread runs no evaluation: it can be stepped only from a breakpoint."),
  ),
  code: map(tuple(string), ([name]) =>
    refused(
      `${name} is compiled without stepping information.`,
      `Evaluate the definition of ${name} again: evaluations compile for stepping; other code needs (declaim (optimize (debug 3))). Then stop there again. Stepping out works without it.`,
    ),
  ),
});

/** Steps on from a stop (lisp/debugger/stepping.lisp). The thread leaves the stop. */
export const stepOn = lispFunction({
  name: "step-on",
  where: "stopped-thread",
  module: "debugger",
  encode: (level: number, mode: StepMode, stdin?: string) => {
    checkChoice("mode", mode, STEP_MODES);
    return [level, keyword(mode), ...(stdin === undefined ? [] : [stdin])];
  },
  decode: nothing,
  unwound: () => undefined,
  refusals: { "not-steppable": () => notSteppable, "no-input": () => noInput },
  label: (_level: number, mode: StepMode, _stdin?: string) => `step ${mode}`,
});

/** The error for stepping another client's thread: its next stop would be in the owner's debugger. */
export function steppedElsewhere(thread: number, owner: StopOwner): SwankError {
  return refused(
    `Thread ${thread} is stopped in ${owner.text}: it can be stepped only there.`,
    "Look at its frames and variables, or choose a restart.",
  );
}

function refused(message: string, remedy?: string): SwankError {
  return new SwankError("NOT_STEPPABLE", message, { remedy });
}
