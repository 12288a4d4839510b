/**
 * Every way in which this package can fail: what it means, and what to do about it.
 *
 * Closed: a {@link SwankErrorCode} is a key of this table. The documentation of error codes is generated from it.
 */
export const ERROR_CODES = {
  CONNECTION_REFUSED: {
    meaning:
      "Nothing listens on that host and port. A Swank that was started without :dont-close t stops listening as soon as one client, such as Emacs, is connected.",
    remedy: "Evaluate (swank:create-server :port 4005 :dont-close t) in the image; other connections to it stay.",
  },
  HOST_NOT_FOUND: {
    meaning: "The host name does not resolve.",
    remedy: "Check the host's name, or give its address.",
  },
  HOST_UNREACHABLE: {
    meaning: "No route leads to the host, or a firewall refuses the way.",
    remedy:
      "Check the network, or forward the port, ssh -N -L 4005:127.0.0.1:4005 HOST, and connect to 127.0.0.1:4005.",
  },
  CONNECT_TIMEOUT: {
    meaning: "The host did not accept the connection in time.",
    remedy: "Check that the host is up and that no firewall drops the port, or allow more time.",
  },
  CONNECT_FAILED: {
    meaning: "The operating system refused to open the connection.",
    remedy: "The cause tells what the operating system said.",
  },
  NOT_SWANK: {
    meaning: "Something listens there, but it does not speak the Swank protocol.",
    remedy: "Check the port. In the image, (swank:create-server :port 4006 :dont-close t) starts a Swank server.",
  },
  SLYNK: {
    meaning: "SLY's Slynk listens there, which speaks a protocol of its own.",
    remedy:
      "Load Swank into the image beside it, (ql:quickload :swank), start it on a port of its own, (swank:create-server :port 4006 :dont-close t), and connect to that.",
  },
  UNSUPPORTED_LISP: {
    meaning: "The image is not an SBCL. Frames, breakpoints and steps are made for SBCL alone.",
    remedy: "Use an image of SBCL.",
  },
  SECRET_REJECTED: {
    meaning: "The server did not go on after it was given the secret.",
    remedy:
      "Give the first line of ~/.slime-secret of the user who runs the server, or no secret when there is no such file.",
  },
  SECRET_UNREADABLE: {
    meaning: "The file of the secret cannot be read, or its first line is empty. Nothing was sent.",
    remedy: "Make the file readable, name another one, or send no secret when the server has none.",
  },
  NO_THREADS: {
    meaning: "The server handles one request at a time, so a stopped evaluation would block everything else.",
    remedy:
      "Start another server in the image, with threads, (swank:create-server :port 4006 :dont-close t :style :spawn), and connect to that.",
  },
  SWANK_TOO_OLD: {
    meaning: "The image runs a Swank older than 2.24.",
    remedy: "Start the Lisp anew with SLIME 2.24 or newer; a running Swank cannot be replaced.",
  },
  CONNECTION_CLOSED: {
    meaning: "This side closed the connection.",
    remedy: "Connect again.",
  },
  CONNECTION_LOST: {
    meaning: "The other side closed the connection, or the way to it broke.",
    remedy: "See whether the image still runs and its server was started with :dont-close t, then connect again.",
  },
  UNRESPONSIVE: {
    meaning: "The connection is open, but the image has stopped answering altogether.",
    remedy: "See whether the image is suspended or stuck, then connect again.",
  },
  BACKLOG_FULL: {
    meaning: "The image does not read what is sent to it, and too much is waiting already.",
    remedy: "See whether the image is suspended or stuck; send again when it reads.",
  },
  FRAME_TOO_LARGE: {
    meaning: "A message is larger than the protocol or the configured limit allows.",
    remedy: "Have Lisp give less at a time: print within limits, or ask in parts.",
  },
  REPLY_TOO_LARGE: {
    meaning:
      "The result of a request is larger than the protocol allows. Lisp kept it back; the request was carried out, and the connection stays.",
    remedy: "Have Lisp give less at a time: count, summarize, print within limits, or ask in parts.",
  },
  LIMIT_EXCEEDED: {
    meaning:
      "The other side sent more than an image ever does: too many stopped threads, data nested too deep, too many new symbols, or questions without reading the answers. The connection was closed.",
    remedy: "See whether the port belongs to the image you mean, and what its threads do; then connect again.",
  },
  BAD_FRAME: {
    meaning: "The bytes received are not framed as Swank frames its messages.",
    remedy: "Check that the port belongs to Swank, and connect again.",
  },
  UNREADABLE_MESSAGE: {
    meaning: "A message is not a list of Lisp data that can be read.",
    remedy: "Have the form give strings, numbers and lists rather than objects that print in ways of their own.",
  },
  REQUEST_TIMEOUT: {
    meaning:
      "No reply came in time. A client's call is then ended in the image; a request of a bare connection, and code that runs without interrupts, may go on.",
    remedy: "Allow more time, or evaluate the code, which can be interrupted.",
  },
  REQUEST_UNREADABLE: {
    meaning:
      "Lisp could not read the request, often because a package or an external symbol in it does not exist there.",
    remedy: "Load what the request names, and write pkg::name for symbols that are not exported everywhere.",
  },
  REQUEST_FAILED: {
    meaning: "The request signalled an error in Lisp and was abandoned.",
    remedy: "The message is that of the Lisp error.",
  },
  REQUEST_ABORTED: {
    meaning: "The request was aborted in Lisp before it gave a result.",
    remedy: "Send it again if it is still wanted.",
  },
  NO_SUCH_THREAD: {
    meaning: "The thread that the request was meant for does not exist any more.",
    remedy: "List the threads again.",
  },
  UNEXPECTED_REPLY: {
    meaning: "The reply has a shape that this version of the client does not know.",
    remedy: "Report it, with the version of Swank.",
  },
  INTERNAL_ERROR: {
    meaning: "This package has a defect.",
    remedy: "Report it with the stack of the cause.",
  },
  INVALID_ARGUMENT: {
    meaning: "An argument is not acceptable. Nothing was sent.",
    remedy: "Correct the argument that the message names.",
  },
  CANCELLED: {
    meaning: "The caller's signal was aborted while waiting.",
    remedy: "None is needed: this was asked for.",
  },
  WAIT_TIMEOUT: {
    meaning: "The wait ended before there was an outcome. The evaluation goes on.",
    remedy: "Wait again, interrupt it, or abort it.",
  },
  STALE_SESSION: {
    meaning: "The thread is not stopped there any more.",
    remedy: "Use the evaluation's latest stop.",
  },
  NO_SUCH_FRAME: {
    meaning: "The stack has no frame with that number.",
    remedy: "Ask for the frames again and use a number from that list.",
  },
  NOT_RESTARTABLE: {
    meaning: "The frame can be neither restarted nor returned from: its code was compiled without the means.",
    remedy: "Compile its function with (declaim (optimize (debug 3))), choose another frame, or use a restart.",
  },
  NOT_STEPPABLE: {
    meaning: "There is no way to step on from this stop. The thread is still stopped as it was.",
    remedy:
      "Choose a restart; to step through code, stop at a breakpoint or at (break) in code compiled with (optimize (debug 3)).",
  },
  FRAME_EVALUATION_FAILED: {
    meaning: "Code that was evaluated in a frame signalled an error. The thread is still stopped as it was.",
    remedy: "Correct the code and evaluate it again.",
  },
  FRAME_EVALUATION_TIMEOUT: {
    meaning:
      "Code that was evaluated in a stopped thread took too long and was broken off. The thread is still stopped as it was.",
    remedy: "Evaluate something quicker, or allow more time.",
  },
  NO_SUCH_BREAKPOINT: {
    meaning: "This client has no breakpoint with that id.",
    remedy: "List the breakpoints.",
  },
  BREAKPOINT_REFUSED: {
    meaning: "No breakpoint can stand there.",
    remedy:
      "Name a function that is defined, with its package: my-app:process. A condition is Lisp code that can be compiled.",
  },
  NO_SUCH_RESTART: {
    meaning: "The stop offers no such restart.",
    remedy: "Use one of the restarts that the stop lists.",
  },
  NO_SUCH_PACKAGE: {
    meaning: "The package to evaluate in does not exist in the image. Nothing was evaluated.",
    remedy: "Check the name, load the system that defines it, or leave the package out.",
  },
  RUNTIME_FORBIDDEN: {
    meaning: "The operation needs Lisp code of this library in the image, which the client's options forbid.",
    remedy: "Connect without `runtime: false`, or use Swank's own commands.",
  },
  RUNTIME_FAILED: {
    meaning: "The Lisp code that evaluations need could not be loaded into the image.",
    remedy: "The message is that of the Lisp error.",
  },
  LISP_NOT_FOUND: {
    meaning: "No Lisp was found to launch.",
    remedy: "Install SBCL, or name its executable.",
  },
  SWANK_NOT_FOUND: {
    meaning: "No Swank was found to load into the image.",
    remedy: "Install cl-swank, (ql:quickload :swank), or name the folder of swank-loader.lisp.",
  },
  CORE_BUILD_FAILED: {
    meaning: "Lisp could not build the core to start images from.",
    remedy: "The details hold what Lisp printed.",
  },
  LAUNCH_FAILED: {
    meaning: "The image did not come up.",
    remedy: "The details hold what Lisp printed.",
  },
} as const satisfies Record<string, { meaning: string; remedy: string }>;

/** Key of {@link ERROR_CODES}. */
export type SwankErrorCode = keyof typeof ERROR_CODES;

/** What is known of the circumstances of a failure; which fields are there depends on the code. */
export interface SwankErrorDetails {
  /** What was being asked of Lisp, e.g. `swank:backtrace`. */
  readonly operation?: string;
  /** Id of the request. */
  readonly request?: number;
  /** The last messages sent before the failure, oldest first, each cut to a few hundred characters. */
  readonly lastSent?: readonly string[];
  /** The beginning of what was received instead of something sensible. */
  readonly received?: string;
  /** The port to connect to instead, once the remedy's form has been evaluated. */
  readonly port?: number;
  /** No secret was given, and the server may want one. */
  readonly secretMissing?: boolean;
  /** What a Lisp printed while it was being launched. */
  readonly output?: string;
}

/** How to make a {@link SwankError} other than by its code and message. */
export interface SwankErrorOptions {
  /** What led to it. */
  readonly cause?: unknown;
  /** What to do, when that can be said better than the code's general remedy does. */
  readonly remedy?: string | undefined;
  readonly details?: SwankErrorDetails | undefined;
  /** Where the failed operation was called; its stack replaces that of the place where the failure was noticed. */
  readonly origin?: CallSite | undefined;
}

/** The one error type of this package. Tell failures apart by `code`; `remedy` says what to do. */
export class SwankError extends Error {
  override readonly name = "SwankError";
  readonly code: SwankErrorCode;
  /** What to do about it, one or two sentences. */
  readonly remedy: string;
  readonly details: SwankErrorDetails;

  constructor(code: SwankErrorCode, message: string, options: SwankErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.remedy = options.remedy ?? ERROR_CODES[code].remedy;
    this.details = options.details ?? {};
    if (options.origin !== undefined) this.stack = `${this.name}: ${message}\n${options.origin.frames}`;
  }
}

/** The same error, or one that wraps it: an error of another type is a defect of this package. */
export function asSwankError(error: unknown): SwankError {
  if (error instanceof SwankError) return error;
  return new SwankError("INTERNAL_ERROR", error instanceof Error ? error.message : String(error), { cause: error });
}

/** Remembers where an operation was called, so that an error which is noticed much later can point there. */
export class CallSite {
  readonly #holder: { stack?: string } = {};

  /** @param callee - Frames down to this function's are left out. */
  constructor(callee: (...args: never[]) => unknown) {
    Error.captureStackTrace(this.#holder, callee);
  }

  /** The stack frames, a line each. */
  get frames(): string {
    const stack = this.#holder.stack ?? "";
    return stack.slice(stack.indexOf("\n") + 1);
  }
}
