/**
 * Every error code of this package, with its meaning and its remedy.
 *
 * The set is closed: a {@link SwankErrorCode} is a key of this table. docs/errors.md is generated from it.
 */
export const ERROR_CODES = {
  CONNECTION_REFUSED: {
    meaning:
      "Nothing listens on that host and port. A Swank server that was started without :dont-close t stops listening once a client, such as Emacs, has connected.",
    remedy:
      "Evaluate (swank:create-server :port 4005 :dont-close t) in the image. Its other connections are not affected.",
  },
  HOST_NOT_FOUND: {
    meaning: "The host name does not resolve.",
    remedy: "Check the host name, or give the address.",
  },
  HOST_UNREACHABLE: {
    meaning: "There is no route to the host, or a firewall blocks the connection.",
    remedy:
      "Check the network, or forward the port with ssh -N -L 4005:127.0.0.1:4005 HOST and connect to 127.0.0.1:4005.",
  },
  CONNECT_TIMEOUT: {
    meaning: "The host did not accept the connection in time.",
    remedy: "Check that the host is up and that no firewall blocks the port, or allow more time.",
  },
  CONNECT_FAILED: {
    meaning: "The operating system refused to open the connection.",
    remedy: "Read the operating system's error in the cause.",
  },
  NOT_SWANK: {
    meaning: "The server on that port does not speak the Swank protocol.",
    remedy:
      "Check the port. To start a Swank server, evaluate (swank:create-server :port 4006 :dont-close t) in the image. If the message says that the server reset the connection, too many clients may have connected at once: try again.",
  },
  SLYNK: {
    meaning: "The server on that port is SLY's Slynk, in a Lisp other than SBCL.",
    remedy:
      "Load Swank into the image with (ql:quickload :swank), start it on another port with (swank:create-server :port 4006 :dont-close t), and connect to that port.",
  },
  SECRET_REJECTED: {
    meaning: "The server stopped responding after it received the secret.",
    remedy:
      "Give the first line of the ~/.slime-secret, or of the ~/.sly-secret for SLY's Slynk, of the user who runs the server, or no secret if that user has no such file.",
  },
  SECRET_UNREADABLE: {
    meaning: "The secret file cannot be read, or its first line is empty. Nothing was sent.",
    remedy: "Make the file readable, name another file, or send no secret if the server has none.",
  },
  NO_THREADS: {
    meaning: "The server handles one request at a time, so a stopped evaluation would block all other requests.",
    remedy:
      "Start a server with threads in the image, (swank:create-server :port 4006 :dont-close t :style :spawn), and connect to that.",
  },
  SWANK_TOO_OLD: {
    meaning: "The image runs a Swank older than 2.24.",
    remedy: "Restart the Lisp with SLIME 2.24 or newer. A running Swank cannot be replaced.",
  },
  CONNECTION_CLOSED: {
    meaning: "This side closed the connection.",
    remedy: "Connect again.",
  },
  CONNECTION_LOST: {
    meaning: "The image closed the connection, or the network failed.",
    remedy: "Check that the image still runs and that its server was started with :dont-close t, then connect again.",
  },
  UNRESPONSIVE: {
    meaning: "The connection is open, but the image does not answer.",
    remedy: "Check whether the image is suspended or hangs, then connect again.",
  },
  BACKLOG_FULL: {
    meaning: "The image does not read its messages, and the queue of unsent messages is full.",
    remedy: "Check whether the image is suspended or hangs. Send again when it reads.",
  },
  FRAME_TOO_LARGE: {
    meaning: "A message is larger than the protocol or the configured limit allows.",
    remedy: "Make the Lisp code return less: limit what it prints, or ask in parts.",
  },
  REPLY_TOO_LARGE: {
    meaning:
      "The result of a request is larger than the protocol allows, so Lisp did not send it. The request ran to its end, and the connection stays open.",
    remedy: "Make the Lisp code return less: count, summarize, limit what it prints, or ask in parts.",
  },
  LIMIT_EXCEEDED: {
    meaning:
      "The server sent more than any image does: too many stopped threads, data nested too deep, too many new symbols, or questions without reading the answers. The connection was closed.",
    remedy: "Check that the port belongs to the intended image, and what its threads do. Then connect again.",
  },
  BAD_FRAME: {
    meaning: "The received bytes are not a Swank message frame.",
    remedy: "Check that the port belongs to a Swank server, and connect again.",
  },
  UNREADABLE_MESSAGE: {
    meaning: "A message is not a readable list, or contains an integer or ratio of more than 100,000 characters.",
    remedy: "Make the form return strings, numbers and lists instead of objects with print methods.",
  },
  REQUEST_TIMEOUT: {
    meaning:
      "No reply came in time. A client's call is then ended in the image. A request sent on a bare connection, and code that runs without interrupts, may continue.",
    remedy:
      "If code of yours takes that long, run it as an evaluation, which can be interrupted. Otherwise try again later.",
  },
  LOCK_HELD: {
    meaning:
      "The request waited for a lock that a stopped thread holds, or for the compiler's lock that a running thread holds, and was ended in the image.",
    remedy:
      "Resume or abort the stop that the message names, or wait until the thread that it names has released the lock, then try again.",
  },
  REQUEST_UNREADABLE: {
    meaning:
      "Lisp could not read the request, often because a package or an external symbol in it does not exist there.",
    remedy: "Load the packages that the request names, and write pkg::name for symbols that are not exported.",
  },
  REQUEST_FAILED: {
    meaning: "The request signalled an error in Lisp and was aborted.",
    remedy: "Correct the Lisp error that the message reports.",
  },
  NOT_SUPPORTED: {
    meaning:
      "The image lacks what the operation needs: its Lisp is not SBCL, and `details.ability` names what it cannot do; its server does not have the function, which is `details.operation`; or its SBCL lacks an internal, which the message names.",
    remedy:
      "Do without the operation, or use a version of SBCL with which this package has been tested: everything else works.",
  },
  REQUEST_ABORTED: {
    meaning: "The request was aborted in Lisp before it returned.",
    remedy: "Send the request again if its result is still needed.",
  },
  CONTRIB_MISSING: {
    meaning: "The function belongs to a contrib of SLIME that the image cannot load.",
    remedy:
      "Install SLIME with its contrib folder beside Swank on the image's machine, and start the image from it. Debian's cl-swank has all contribs.",
  },
  LISP_ERROR: {
    meaning: "The code given to `eval` signalled an error, or would have stopped in the debugger. It was unwound.",
    remedy: "Read the error's `report`, which has condition, restarts and frames. To debug it alive, use `evaluate`.",
  },
  EVALUATION_STOPPED: {
    meaning: "The code of a task stopped in the debugger, and nothing resumed it at once. Its thread is still stopped.",
    remedy:
      'Resume it through the task\'s `stop`, then call `result` again, or end it with `abort`. With onError: "unwind", errors end the code instead.',
  },
  EVALUATION_TIMEOUT: {
    meaning: "The code given to `eval` took longer than its `timeout` and was ended.",
    remedy: "Allow more time, or use `evaluate`, which stops the code in the debugger to show what it does.",
  },
  NO_SUCH_THREAD: {
    meaning: "The thread that the request names no longer exists.",
    remedy: "List the threads again.",
  },
  NO_SUCH_OBJECT: {
    meaning: "No object has that id, or it is gone: an id does not keep its object alive.",
    remedy: "Inspect the object again from an expression that reaches it, and use the new id.",
  },
  UNEXPECTED_REPLY: {
    meaning: "The reply has a shape that the call's decoder does not accept.",
    remedy: "Correct `decode` if you wrote the call's descriptor. Otherwise report this, with the version of Swank.",
  },
  INTERNAL_ERROR: {
    meaning: "This package has a defect.",
    remedy: "Report this, with the stack of the cause.",
  },
  INVALID_ARGUMENT: {
    meaning: "An argument is invalid. Nothing was sent.",
    remedy: "Correct the argument that the message names.",
  },
  CANCELLED: {
    meaning: "The caller aborted its signal during the wait.",
    remedy: "Nothing needs to be done.",
  },
  WAIT_TIMEOUT: {
    meaning: "The wait ended before the evaluation had an outcome. The evaluation continues.",
    remedy: "Wait again, or interrupt or abort the evaluation.",
  },
  STALE_SESSION: {
    meaning: "The thread has left this stop.",
    remedy: "Use the evaluation's latest stop.",
  },
  INSPECTOR_CLOSED: {
    meaning: "The inspector was closed, or the session was reset.",
    remedy: "Inspect the object again.",
  },
  NO_SUCH_FRAME: {
    meaning: "The stack has no frame with that number.",
    remedy: "List the frames again and use a number from that list.",
  },
  NOT_RESTARTABLE: {
    meaning:
      "The frame cannot be restarted or returned from: its code was compiled without debug information, or, for a restart, its function cannot be called by name, as a local one.",
    remedy: "Compile its function with (declaim (optimize (debug 3))), choose another frame, or use a restart.",
  },
  NOT_STEPPABLE: {
    meaning: "Stepping is not possible from this stop. The stop is unchanged.",
    remedy:
      "Choose a restart. To step through code, stop at a breakpoint or at (break) in code compiled with (optimize (debug 3)).",
  },
  FRAME_EVALUATION_FAILED: {
    meaning: "Code that was evaluated in a frame signalled an error. The stop is unchanged.",
    remedy: "Correct the code and evaluate it again.",
  },
  FRAME_EVALUATION_TIMEOUT: {
    meaning: "Code that was evaluated in a stopped thread took too long and was aborted. The stop is unchanged.",
    remedy: "Evaluate code that takes less time.",
  },
  NO_SUCH_BREAKPOINT: {
    meaning: "This client has no breakpoint with that id.",
    remedy: "List the breakpoints.",
  },
  BREAKPOINT_REFUSED: {
    meaning: "No breakpoint can be set there.",
    remedy:
      "Name a defined function with its package, as in my-app:process. A condition must be Lisp code that compiles.",
  },
  WATCH_REFUSED: {
    meaning: "The program cannot be profiled now, or the calls of that function cannot be traced.",
    remedy: "Wait until another profile ends. To trace, name a defined function of the program, as in my-app:process.",
  },
  NO_SUCH_RESTART: {
    meaning: "The stop offers no such restart.",
    remedy: "Use a restart from the stop's list.",
  },
  NO_SUCH_PACKAGE: {
    meaning: "The package to evaluate in does not exist in the image. Nothing was evaluated.",
    remedy: "Check the name, load the system that defines the package, or omit the package.",
  },
  RUNTIME_FORBIDDEN: {
    meaning: "The operation needs this library's Lisp code in the image, which the client's options forbid.",
    remedy: "Connect without `runtime: false`, or call Swank's own functions.",
  },
  RUNTIME_FAILED: {
    meaning: "The Lisp code that evaluations need could not be loaded into the image.",
    remedy: "Read the Lisp error in the message.",
  },
  LISP_NOT_FOUND: {
    meaning: "No Lisp was found to launch.",
    remedy: "Install SBCL or ECL, or name its executable.",
  },
  SWANK_NOT_FOUND: {
    meaning: "No Swank was found to load into the image.",
    remedy:
      "Install Swank (Debian's cl-swank, or (ql:quickload :swank)), or name the folder that contains swank-loader.lisp.",
  },
  CORE_BUILD_FAILED: {
    meaning: "SBCL could not build the core from which images start.",
    remedy: "Correct the cause that Lisp printed, and call again.",
  },
  LAUNCH_FAILED: {
    meaning: "The image did not start.",
    remedy: "Correct the cause that Lisp printed, and call again.",
  },
} as const satisfies Record<string, { meaning: string; remedy: string }>;

/** Key of {@link ERROR_CODES}. */
export type SwankErrorCode = keyof typeof ERROR_CODES;

/** Optional parts of a {@link SwankError}. */
export interface SwankErrorOptions {
  /** The error that caused this one. */
  readonly cause?: unknown;
  /** A remedy more specific than that of the code, which is the default. */
  readonly remedy?: string | undefined;
  readonly details?: SwankErrorDetails | undefined;
  /** The call of the failed operation. Its stack replaces that of the place where the failure was detected. */
  readonly origin?: CallSite | undefined;
}

/** The error type of this package. `code` identifies the failure; `remedy` says what to do. Its subtypes are `EvaluationError` and `LispError`. */
export class SwankError extends Error {
  override readonly name: string = "SwankError";
  readonly code: SwankErrorCode;
  /** What to do, in one or two sentences. */
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

/** Returns a SwankError as it is and wraps any other error as INTERNAL_ERROR, since it is a defect of this package. */
export function asSwankError(error: unknown): SwankError {
  if (error instanceof SwankError) return error;
  return new SwankError("INTERNAL_ERROR", error instanceof Error ? error.message : String(error), { cause: error });
}

/** The place where an operation was called, for the stacks of errors that are detected later. */
export class CallSite {
  readonly #holder: { stack?: string } = {};

  /** @param callee - Its frame and all inner frames are omitted. */
  constructor(callee: (...args: never[]) => unknown) {
    Error.captureStackTrace(this.#holder, callee);
  }

  /** The stack frames, one per line. */
  get frames(): string {
    const stack = this.#holder.stack ?? "";
    return stack.slice(stack.indexOf("\n") + 1);
  }
}

/** How a launched image ended. */
export interface ImageExit {
  /** Exit code; `undefined` if a signal ended it, or if it could not be started. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** True if a garbage collection ran out of memory, which ends SBCL. `dynamicSpaceSize` gives an image more. */
  readonly heapExhausted: boolean;
  /** The message in its output that says why it ended, or the last 12 lines; empty if it printed nothing, or if the exit code is 0. */
  readonly problem: string;
  /** The end of its output on stdout and stderr, about 16,000 characters. */
  readonly outputTail: string;
}

/** Circumstances of a failure. The code determines which fields are present. */
export interface SwankErrorDetails {
  /** What the image lacks, one of `ABILITIES`, and which Lisp it is. */
  readonly ability?: string;
  readonly implementation?: string;
  /** The operation that failed, e.g. `swank:backtrace`. */
  readonly operation?: string;
  /** Id of the request. */
  readonly request?: number;
  /** The stopped thread that holds the lock for which the request waited, and its level in the debugger. */
  readonly holder?: { readonly thread: number; readonly level: number };
  /** The last messages sent before the failure, oldest first, each cut to a few hundred characters. */
  readonly lastSent?: readonly string[];
  /** The beginning of the bytes or data that were not understood. */
  readonly received?: string;
  /** The port to connect to after the remedy's form has been evaluated. */
  readonly port?: number;
  /** True if no secret was given and the server may require one. */
  readonly secretMissing?: boolean;
  /**
   * True if the user has disconnected all agents from the image, with `M-x swank-mcp-kick` in Emacs or `activity.kick`; `alone` if only the
   * agent of this client.
   */
  readonly kicked?: true | "alone";
  /** The output of a Lisp during its launch. */
  readonly output?: string;
  /** How the image ended whose connection was lost, if this program launched it and it ended within 2 s of the loss. */
  readonly exit?: ImageExit;
}
