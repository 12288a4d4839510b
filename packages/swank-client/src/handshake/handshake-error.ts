import { asSwankError, SwankError, type SwankErrorCode } from "../errors.js";

/** What is known about a handshake that failed. */
export interface FailedHandshake {
  /** Where it leads, e.g. `127.0.0.1:4005`. */
  readonly description: string;
  /** A secret was sent. */
  readonly secretSent: boolean;
  /** At least one Swank message came. */
  readonly heard: boolean;
}

/** What a peer that speaks something else leads to. */
const GARBAGE: ReadonlySet<SwankErrorCode> = new Set([
  "BAD_FRAME",
  "FRAME_TOO_LARGE",
  "UNREADABLE_MESSAGE",
  "UNEXPECTED_REPLY",
]);

/** What a peer that does not care for what it was sent leads to. */
const SILENCE: ReadonlySet<SwankErrorCode> = new Set(["REQUEST_TIMEOUT", "CONNECTION_LOST"]);

/** Says what the failure of the first request means for somebody who wanted to connect. */
export function handshakeError(failure: unknown, handshake: FailedHandshake): SwankError {
  const cause = asSwankError(failure);
  if (GARBAGE.has(cause.code)) return notSwank(handshake, cause.message, cause);
  if (cause.code === "REQUEST_UNREADABLE") return noSwankPackage(handshake, cause);
  if (!SILENCE.has(cause.code) || handshake.heard) return cause;
  const silence = cause.code === "REQUEST_TIMEOUT" ? "does not answer" : "closed the connection without an answer";
  return handshake.secretSent ? secretRejected(handshake, silence, cause) : silent(handshake, silence, cause);
}

function notSwank({ description }: FailedHandshake, what: string, cause: SwankError): SwankError {
  return new SwankError("NOT_SWANK", `${description} does not speak Swank's protocol: ${what}`, {
    cause,
    details: cause.details,
  });
}

function noSwankPackage({ description }: FailedHandshake, cause: SwankError): SwankError {
  return new SwankError("NOT_SWANK", `${description} is a Lisp without Swank, perhaps with SLY's Slynk.`, {
    cause,
    remedy:
      "Load Swank into the image beside it, (ql:quickload :swank), and start (swank:create-server :port 4005 :dont-close t).",
    details: cause.details,
  });
}

function secretRejected({ description }: FailedHandshake, silence: string, cause: SwankError): SwankError {
  return new SwankError("SECRET_REJECTED", `${description} ${silence} after it was given the secret.`, {
    cause,
    details: cause.details,
  });
}

/** Swank gives no sign when it wants a secret and gets none, so that is only one of the possibilities. */
function silent({ description }: FailedHandshake, silence: string, cause: SwankError): SwankError {
  return new SwankError("NOT_SWANK", `${description} ${silence}.`, {
    cause,
    remedy:
      "Check that the port is Swank's and that the image is not stuck. If the image's user has a ~/.slime-secret, give its first line as the secret.",
    details: cause.details,
  });
}
