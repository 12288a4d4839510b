import { asSwankError, SwankError, type SwankErrorCode } from "../base/errors.js";
import { listenForm, portBeside } from "../base/listen-form.js";
import type { CheckedServer } from "./check-image.js";

/** The state of a handshake that failed. */
export interface FailedHandshake extends CheckedServer {
  /** A secret was sent. */
  readonly secretSent: boolean;
  /** A sentence on the risk, if the secret was sent over a network. */
  readonly exposure: string | undefined;
  /** At least one Swank message arrived. */
  readonly heard: boolean;
}

/** Error codes of a peer that speaks another protocol. */
const GARBAGE: ReadonlySet<SwankErrorCode> = new Set(["BAD_FRAME", "FRAME_TOO_LARGE", "UNREADABLE_MESSAGE"]);

/** Error codes of a peer that does not answer, or closes the connection. */
const SILENCE: ReadonlySet<SwankErrorCode> = new Set(["REQUEST_TIMEOUT", "CONNECTION_LOST"]);

/**
 * True if the server reset the connection before it answered, as a system does when too many clients connect at once. A secret is never sent again
 * for that: each wrong one stops Swank from accepting clients.
 */
export function mayConnectAgain(error: unknown): boolean {
  if (!(error instanceof SwankError)) return false;
  return (error.code === "NOT_SWANK" || error.code === "CONNECT_FAILED") && isReset(error.cause);
}

function isReset(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if ("code" in cause && cause.code === "ECONNRESET") return true;
  return false;
}

/** What to do about a server that keeps resetting connections. */
const TRY_AGAIN = "If many clients connect at once, or the image is busy, try again.";

/** Turns the failure of the first request into an error about connecting. */
export function handshakeError(failure: unknown, handshake: FailedHandshake): SwankError {
  const error = explain(failure, handshake);
  const { exposure } = handshake;
  if (exposure === undefined) return error;
  const { code, message, remedy, details, cause } = error;
  return new SwankError(code, `${message} ${exposure}`, { cause, remedy, details });
}

function explain(failure: unknown, handshake: FailedHandshake): SwankError {
  const cause = asSwankError(failure);
  if (GARBAGE.has(cause.code)) return notSwank(handshake, `does not speak Swank's protocol: ${cause.message}`, cause);
  if (cause.code === "REQUEST_UNREADABLE")
    return notSwank(handshake, "is a Lisp without Swank, perhaps with SLY's Slynk.", cause);
  if (cause.code === "UNEXPECTED_REPLY") return oddSwank(handshake, cause);
  if (!SILENCE.has(cause.code) || handshake.heard) return cause;
  const isClosed = cause.code === "CONNECTION_LOST";
  if (handshake.secretSent) return isClosed ? noSecretWanted(handshake, cause) : wrongSecret(handshake, cause);
  return silent(handshake, isClosed, cause);
}

function notSwank({ description, port }: FailedHandshake, what: string, cause: SwankError): SwankError {
  const free = portBeside(port);
  const remedy = `Check the port. If the Lisp has no Swank, load it, (ql:quickload :swank); ${listenForm(free)} starts it on a separate port. Then connect to port ${free}.`;
  return new SwankError("NOT_SWANK", `${description} ${what}`, {
    cause,
    remedy,
    details: { ...cause.details, port: free },
  });
}

/** The peer replied to Swank's first request. Until 2006 the reply was a plain list without a version. */
function oddSwank({ description }: FailedHandshake, cause: SwankError): SwankError {
  return new SwankError(
    "SWANK_TOO_OLD",
    `${description} does not answer as Swank 2.24 and newer do: ${cause.message}`,
    {
      cause,
      details: cause.details,
    },
  );
}

/** A Swank without a secret decodes the first packet as a message, which must be a list (swank.lisp, `decode-message`). */
function noSecretWanted({ description }: FailedHandshake, cause: SwankError): SwankError {
  const [ended, last] = isReset(cause) ? ["reset", ` ${TRY_AGAIN}`] : ["closed", ""];
  return new SwankError("SECRET_REJECTED", `${description} ${ended} the connection after it received the secret.`, {
    cause,
    remedy: `Send none if the user who runs the server has no ~/.slime-secret, which is most likely; else give that file's first line.${last}`,
    details: cause.details,
  });
}

function wrongSecret(handshake: FailedHandshake, cause: SwankError): SwankError {
  const { description } = handshake;
  return new SwankError("SECRET_REJECTED", `${description} does not answer after it received the secret.`, {
    cause,
    remedy: `Give the first line of ~/.slime-secret of the user who runs the server, or no secret when there is no such file. ${restartHint(handshake)}`,
    details: cause.details,
  });
}

/** Swank stays silent if it expects a secret and gets none, so a missing secret is only one possible reason. */
function silent(handshake: FailedHandshake, isClosed: boolean, cause: SwankError): SwankError {
  const [ended, first] = isReset(cause) ? ["reset", `${TRY_AGAIN} `] : ["closed", ""];
  const silence = isClosed ? `${ended} the connection without an answer` : "does not answer";
  const tunnel = isClosed ? " A tunnel does this when nothing listens at its other end." : "";
  return new SwankError("NOT_SWANK", `${handshake.description} ${silence}.`, {
    cause,
    remedy: `${first}Check that the port is Swank's and that the image is not stuck.${tunnel} If the user who runs it has a ~/.slime-secret, give that file's first line as the secret. ${restartHint(handshake)}`,
    details: { ...cause.details, secretMissing: true },
  });
}

/** From then on the thread that accepts connections is stopped in the debugger (swank.lisp, `authenticate-client`). */
function restartHint({ port = 4005 }: FailedHandshake): string {
  return `A Swank that received a wrong secret, or none, answers no client until it is restarted: (swank:restart-server :port ${port} :dont-close t).`;
}
