/**
 * The refusals of this server's tools, with their meanings and remedies. Tools also report the errors of `swank-client`.
 *
 * Closed: a {@link RefusalCode} is a key of this table. The documentation of error codes is generated from it.
 */
export const REFUSALS = {
  UNKNOWN_TOOL: {
    meaning: "The server has no tool with that name.",
    remedy: "Call one of the tools in tools/list.",
  },
  INVALID_ARGUMENTS: {
    meaning: "The arguments do not fit the tool's input schema. Nothing was run.",
    remedy: "Correct the arguments named in the message and call again.",
  },
  EMPTY_CODE: {
    meaning: "The code contains no form, only white space or comments. Nothing was run.",
    remedy: "Send at least one form, for example (+ 1 2).",
  },
  NO_SUCH_OUTPUT: {
    meaning: "No output with that id is kept: the server keeps only the latest outputs that it has cut.",
    remedy: "Evaluate the code again, with a larger max-output.",
  },
  NOT_DEBUGGING: {
    meaning: "The thread is not stopped, or no thread is.",
    remedy: "lisp-status lists the stopped threads.",
  },
  NO_SUCH_THREAD: {
    meaning: "The image has no thread with that id.",
    remedy: "lisp-status lists the stopped threads.",
  },
  STALE_STOP: {
    meaning: "The stop has ended: its thread has resumed or ended.",
    remedy: "lisp-status lists the stopped threads.",
  },
  INVALID_FRAME: {
    meaning: "The stack has no frame with that index. Nothing was done.",
    remedy: "debugger_frames lists the frames.",
  },
  NO_SUCH_RESTART: {
    meaning: "The stop has no such restart. The stop is unchanged.",
    remedy: "debugger_restarts lists the restarts, numbered from 1.",
  },
  INVALID_RESTART_VALUES: {
    meaning: "The number of values is wrong, or a value could not be evaluated. The stop is unchanged.",
    remedy: "Give one Lisp expression for each argument of the restart, in `values`.",
  },
  NO_SUCH_BREAKPOINT: {
    meaning: "This session has no breakpoint with that id.",
    remedy: "breakpoint_list lists the breakpoints.",
  },
  READ_ONLY: {
    meaning: "The server was started with --read-only, and the call would do more than read. Nothing was done.",
    remedy:
      "Nothing was done, and asking again changes nothing. Use the tools in tools/list: they read. If a change is needed, tell the user, who can make it, or start swank-mcp without --read-only.",
  },
  APPROVAL_DENIED: {
    meaning: "The user did not allow the action, did not answer in time, or could not be asked. Nothing was done.",
    remedy: "Nothing was done. Explain to the user why the action is needed before asking again, or find another way.",
  },
  LISP_UNREACHABLE: {
    meaning: "The image named by --attach cannot be reached.",
    remedy: "Start a Swank server in the image with the form in the message, then call the tool again.",
  },
  START_FAILED: {
    meaning: "An init file or a file of --load ended the new image, or does not end. Nothing was run.",
    remedy: "Correct the file that the message names, then call again.",
  },
  IMAGE_HANGS: {
    meaning:
      "The image does not answer: its process hangs, is suspended, or is very busy, or its connection is interrupted.",
    remedy:
      "reset-session replaces an image that the server launched; the user must free or restart any other, or repair the connection.",
  },
  SESSION_RESET: {
    meaning: "The session was reset while the call ran. Its effects are gone.",
    remedy: "Call again if it is still needed.",
  },
  SHUTTING_DOWN: {
    meaning: "The server is shutting down and accepts no calls.",
    remedy: "Start the server again.",
  },
  CANCELLED: {
    meaning: "The client cancelled the call.",
    remedy: "None is needed.",
  },
  INTERNAL_ERROR: {
    meaning: "A defect of this server.",
    remedy: "Call again. If it fails again, report it with the stack that the server wrote to standard error.",
  },
} as const satisfies Record<string, { meaning: string; remedy: string }>;

/** Key of {@link REFUSALS}. */
export type RefusalCode = keyof typeof REFUSALS;

/** An error that a tool reports to its caller as the contract's error object. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: RefusalCode;
  /** What to do next, one or two sentences. */
  readonly remedy: string;

  constructor(code: RefusalCode, message: string, options: { remedy?: string; cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.remedy = options.remedy ?? REFUSALS[code].remedy;
  }
}
