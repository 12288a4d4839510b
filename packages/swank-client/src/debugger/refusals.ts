import { type Decoder, decode, type Sexp } from "sexp-parser";
import { decodeValue } from "../decode-value.js";
import { SwankError } from "../errors.js";
import type { Restart } from "../evaluation/outcome.js";
import type { FrameRefusal, FrameReply } from "../runtime/decode-frames.js";
import type { StopChannel } from "./stop-channel.js";
import type { StopOwner } from "./stop-owner.js";

const { any, integer, map, nullable, oneOf, string, tagged, tuple } = decode;

/** The value of a reply about a frame. @throws SwankError that its refusal means */
export function frameAnswer<Value>(reply: FrameReply<Value>, index: number, channel: StopChannel): Value {
  if (reply.kind === "value") return reply.value;
  throw frameError(reply, index, channel);
}

/** The error that a refusal about a frame means. */
export function frameError(refusal: FrameRefusal, index: number, channel: StopChannel): SwankError {
  switch (refusal.kind) {
    case "stale":
      return channel.stale(`frame ${index}`);
    case "no-frame":
      return new SwankError(
        "NO_SUCH_FRAME",
        `There is no frame ${index}; there are frames 0 to ${refusal.totalFrames - 1}.`,
      );
    case "not-restartable":
      return new SwankError("NOT_RESTARTABLE", `Frame ${index} can be neither restarted nor returned from.`);
    case "error":
      return new SwankError("FRAME_EVALUATION_FAILED", `${refusal.type}: ${refusal.message}`);
  }
}

/** The error that a restart's refusal means: `(:stale)`, `(:no-restart)`, `(:wrong-count FEWEST MOST)`, `(:returned)`, `(:error TYPE MESSAGE)`. */
export function restartError(reply: Sexp, { name, index }: Restart, channel: StopChannel): SwankError {
  const refusal = tagged({
    stale: map(tuple(), () => channel.stale(`restart ${name}`)),
    "no-restart": map(tuple(), () => new SwankError("NO_SUCH_RESTART", `There is no restart ${index} at this stop.`)),
    "wrong-count": map(tuple(integer, nullable(integer)), ([fewest, most]) => wrongCount(name, fewest, most)),
    returned: map(tuple(), () => returned(name)),
    error: map(tuple(string, string), ([type, message]) => badArgument(name, `${type}: ${message}`)),
  });
  return decodeValue(refusal, reply, `restart ${name}`);
}

/** The error that a refusal to unwind means: `(:stale)`, `(:no-restart)`, `(:returned)`, or what Swank's own call gives. */
export function abortError(reply: Sexp, channel: StopChannel): SwankError {
  const refusal: Decoder<SwankError> = oneOf(
    tagged({
      stale: map(tuple(), () => channel.stale("abort")),
      "no-restart": map(tuple(), () => new SwankError("NO_SUCH_RESTART", "This stop has no ABORT restart.")),
    }),
    map(any, () => returned("ABORT")),
  );
  return refusal(reply);
}

/** The error that a refusal to go on means: `(:stale)`, `(:no-restart)`, `(:wrong-count FEWEST MOST)`, `(:not-steppable REASON [FUNCTION])`. */
export function resumeError(reply: Sexp, channel: StopChannel): SwankError {
  const refusal = tagged({
    stale: map(tuple(), () => channel.stale("continue")),
    "no-restart": map(tuple(), () => new SwankError("NO_SUCH_RESTART", "This stop has no CONTINUE restart.")),
    "wrong-count": map(tuple(integer, nullable(integer)), ([fewest, most]) => wrongCount("CONTINUE", fewest, most)),
    "not-steppable": notSteppable,
  });
  return decodeValue(refusal, reply, "continue");
}

const notSteppable: Decoder<SwankError> = tagged({
  "no-way-on": map(
    tuple(),
    () => new SwankError("NOT_STEPPABLE", "This stop cannot be stepped from: it has no CONTINUE restart."),
  ),
  "foreign-thread": map(
    tuple(),
    () => new SwankError("NOT_STEPPABLE", "This thread can be stepped from a breakpoint only: it runs no evaluation."),
  ),
  code: map(
    tuple(string),
    ([name]) =>
      new SwankError("NOT_STEPPABLE", `${name} is compiled without stepping information.`, {
        remedy: `Evaluate the definition of ${name} again: evaluations compile for stepping, (declaim (optimize (debug 3))) does elsewhere. Then stop there again. Stepping out works without it.`,
      }),
  ),
});

/** A step ends in the debugger of whoever has the thread. */
export function steppedElsewhere(thread: number, owner: StopOwner): SwankError {
  return new SwankError(
    "NOT_STEPPABLE",
    `Thread ${thread} is stopped in ${owner.text}: it can be stepped there only.`,
    {
      remedy: "Look at its frames and variables, or choose a restart.",
    },
  );
}

function wrongCount(name: string, fewest: number, most: number | undefined): SwankError {
  return new SwankError("INVALID_ARGUMENT", `The restart ${name} takes ${count(fewest, most)}.`, {
    remedy: "Give one Lisp expression for each; the thread is still stopped as it was.",
  });
}

/** Made by `restart-bind`, it need not go anywhere. */
function returned(name: string): SwankError {
  return new SwankError("REQUEST_ABORTED", `The restart ${name} was run, and returned: the thread is still stopped.`, {
    remedy: "Choose another restart to go on.",
  });
}

function count(fewest: number, most: number | undefined): string {
  if (most === 0) return "no values";
  const values = (most ?? fewest) === 1 ? "value" : "values";
  if (most === undefined) return `at least ${fewest} ${values}`;
  return fewest === most ? `${most} ${values}` : `${fewest} to ${most} ${values}`;
}

function badArgument(name: string, message: string): SwankError {
  return new SwankError("INVALID_ARGUMENT", `A value for the restart ${name} could not be evaluated: ${message}`, {
    remedy: "Correct the expression; the thread is still stopped as it was.",
  });
}
