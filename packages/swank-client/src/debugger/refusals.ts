import { decode, type Sexp } from "sexp-parser";
import { SwankError } from "../errors.js";
import type { Restart } from "../evaluation/outcome.js";
import type { FrameRefusal, FrameReply } from "../runtime/decode-frames.js";
import type { StopChannel } from "./stop-channel.js";

const { map, string, tagged, tuple } = decode;

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

/** The error that a restart's refusal means: `(:stale)`, `(:no-restart)`, `(:wrong-count LAMBDA-LIST)`, `(:bad-argument TEXT)`. */
export function restartError(reply: Sexp, { name, index }: Restart, channel: StopChannel): SwankError {
  const refusal = tagged({
    stale: map(tuple(), () => channel.stale(`restart ${name}`)),
    "no-restart": map(tuple(), () => new SwankError("NO_SUCH_RESTART", `There is no restart ${index} at this stop.`)),
    "wrong-count": map(tuple(string), ([parameters]) => wrongCount(name, parameters)),
    "bad-argument": map(tuple(string), ([message]) => badArgument(name, message)),
  });
  return refusal(reply);
}

/** The error that a refusal to go on means: `(:stale)`, `(:no-restart)`, `(:not-steppable)`. */
export function resumeError(reply: Sexp, channel: StopChannel): SwankError {
  const refusal = tagged({
    stale: map(tuple(), () => channel.stale("continue")),
    "no-restart": map(tuple(), () => new SwankError("NO_SUCH_RESTART", "This stop has no CONTINUE restart.")),
    "not-steppable": map(
      tuple(),
      () => new SwankError("NOT_STEPPABLE", "This stop cannot be stepped from: it has no CONTINUE restart."),
    ),
  });
  return refusal(reply);
}

function wrongCount(name: string, parameters: string): SwankError {
  return new SwankError("INVALID_ARGUMENT", `The restart ${name} takes the arguments ${parameters}.`, {
    remedy: "Give one Lisp expression for each of them.",
  });
}

function badArgument(name: string, message: string): SwankError {
  return new SwankError("INVALID_ARGUMENT", `A value for the restart ${name} could not be evaluated: ${message}`, {
    remedy: "Correct the expression; the thread is still stopped as it was.",
  });
}
