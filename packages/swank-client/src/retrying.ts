import type { SwankError, SwankErrorCode } from "./base/errors.js";

/**
 * Whether an attempt to connect that failed with this code may succeed later without a change (`passing`), or fails until a person
 * changes something (`permanent`).
 */
const FAILURES: Readonly<Record<SwankErrorCode, "passing" | "permanent">> = {
  CONNECTION_REFUSED: "passing",
  // Name servers are unreachable until the network is up.
  HOST_NOT_FOUND: "passing",
  HOST_UNREACHABLE: "passing",
  CONNECT_TIMEOUT: "passing",
  CONNECT_FAILED: "passing",
  NOT_SWANK: "permanent",
  SLYNK: "permanent",
  UNSUPPORTED_LISP: "permanent",
  // Each further attempt would make a restarted Swank stop accepting clients.
  SECRET_REJECTED: "permanent",
  SECRET_UNREADABLE: "permanent",
  NO_THREADS: "permanent",
  SWANK_TOO_OLD: "permanent",
  CONNECTION_CLOSED: "permanent",
  CONNECTION_LOST: "passing",
  UNRESPONSIVE: "passing",
  BACKLOG_FULL: "passing",
  FRAME_TOO_LARGE: "permanent",
  REPLY_TOO_LARGE: "permanent",
  LIMIT_EXCEEDED: "permanent",
  BAD_FRAME: "permanent",
  UNREADABLE_MESSAGE: "permanent",
  REQUEST_TIMEOUT: "passing",
  LOCK_HELD: "passing",
  REQUEST_UNREADABLE: "permanent",
  REQUEST_FAILED: "permanent",
  REQUEST_ABORTED: "passing",
  CONTRIB_MISSING: "permanent",
  LISP_ERROR: "permanent",
  EVALUATION_TIMEOUT: "permanent",
  NO_SUCH_THREAD: "passing",
  NO_SUCH_OBJECT: "permanent",
  UNEXPECTED_REPLY: "permanent",
  INTERNAL_ERROR: "permanent",
  INVALID_ARGUMENT: "permanent",
  CANCELLED: "permanent",
  WAIT_TIMEOUT: "passing",
  STALE_SESSION: "permanent",
  INSPECTOR_CLOSED: "permanent",
  NO_SUCH_FRAME: "permanent",
  NOT_RESTARTABLE: "permanent",
  NOT_STEPPABLE: "permanent",
  FRAME_EVALUATION_FAILED: "permanent",
  FRAME_EVALUATION_TIMEOUT: "passing",
  NO_SUCH_BREAKPOINT: "permanent",
  BREAKPOINT_REFUSED: "permanent",
  WATCH_REFUSED: "permanent",
  NO_SUCH_RESTART: "permanent",
  NO_SUCH_PACKAGE: "permanent",
  RUNTIME_FORBIDDEN: "permanent",
  RUNTIME_FAILED: "permanent",
  LISP_NOT_FOUND: "permanent",
  SWANK_NOT_FOUND: "permanent",
  CORE_BUILD_FAILED: "permanent",
  LAUNCH_FAILED: "permanent",
};

/**
 * Whether to connect again after a failed attempt.
 *
 * @param answered - True if a Swank answered with these options before: silence then means that it is suspended or hangs.
 */
export function isPassing({ code, cause }: SwankError, answered: boolean): boolean {
  if (FAILURES[code] === "passing") return true;
  // A tunnel accepts a connection, and closes it if nothing listens at the other end.
  const isClosed = causedBy(cause, "CONNECTION_LOST");
  if (code === "NOT_SWANK") return isClosed || (answered && causedBy(cause, "REQUEST_TIMEOUT"));
  return code === "SECRET_REJECTED" && isClosed && answered;
}

function causedBy(cause: unknown, code: SwankErrorCode): boolean {
  return cause instanceof Error && "code" in cause && cause.code === code;
}
