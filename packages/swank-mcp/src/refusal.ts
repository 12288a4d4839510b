/**
 * Why a tool of this server can refuse, besides the errors of `swank-client`: what it means, and what to do.
 *
 * Closed: a {@link RefusalCode} is a key of this table. The documentation of error codes is generated from it.
 */
export const REFUSALS = {
  UNKNOWN_TOOL: {
    meaning: "The server has no tool of that name.",
    remedy: "Call one of the tools that tools/list names.",
  },
  INVALID_ARGUMENTS: {
    meaning: "The arguments do not fit the tool's input schema. Nothing was run.",
    remedy: "Correct the arguments that the message names and call again.",
  },
  EMPTY_CODE: {
    meaning: "The code holds no form, only white space or comments. Nothing was run.",
    remedy: "Send at least one form, for example (+ 1 2).",
  },
  NOT_DEBUGGING: {
    meaning: "The thread is not stopped, or nothing is.",
    remedy: "lisp-status lists the stopped threads.",
  },
  NO_SUCH_THREAD: {
    meaning: "The image has no thread with that id.",
    remedy: "lisp-status lists the stopped threads.",
  },
  STALE_STOP: {
    meaning: "The stop that was meant has ended: its thread went on, or is gone.",
    remedy: "lisp-status lists what is stopped now.",
  },
  INVALID_FRAME: {
    meaning: "The stack has no frame with that index. Nothing was done.",
    remedy: "debugger_frames lists the frames.",
  },
  NO_SUCH_RESTART: {
    meaning: "The stop offers no such restart. The stop is as it was.",
    remedy: "debugger_restarts lists the restarts, numbered from 1.",
  },
  INVALID_RESTART_VALUES: {
    meaning: "The restart takes another number of values, or a value could not be evaluated. The stop is as it was.",
    remedy: "Give one Lisp expression for each argument of the restart, in `values`.",
  },
  NO_SUCH_BREAKPOINT: {
    meaning: "This session has no breakpoint with that id.",
    remedy: "breakpoint_list lists them.",
  },
  APPROVAL_DENIED: {
    meaning: "The user did not allow it, did not answer in time, or could not be asked. Nothing was done.",
    remedy: "Nothing was done. Say why it is needed before asking again, or find another way.",
  },
  LISP_UNREACHABLE: {
    meaning: "The image that this server was told to attach to cannot be reached.",
    remedy: "Start a Swank server in it with the form that the message gives, then call the tool again.",
  },
  IMAGE_HANGS: {
    meaning: "The image answers nothing at all: its process hangs, is suspended, or is very busy.",
    remedy: "reset-session replaces an image of the server's own; the user must free or restart any other.",
  },
  SESSION_RESET: {
    meaning: "The session was reset while the call was under way. Nothing that it did is left.",
    remedy: "Call again if it is still wanted.",
  },
  SHUTTING_DOWN: {
    meaning: "The server is on its way out and starts nothing new.",
    remedy: "Start the server again.",
  },
  CANCELLED: {
    meaning: "The client cancelled the call.",
    remedy: "None is needed: this was asked for.",
  },
  INTERNAL_ERROR: {
    meaning: "A defect of this server.",
    remedy: "Call again; when it happens again, report it with the stack that the server wrote to standard error.",
  },
} as const satisfies Record<string, { meaning: string; remedy: string }>;

/** Key of {@link REFUSALS}. */
export type RefusalCode = keyof typeof REFUSALS;

/** Thrown by a tool that cannot do what it was asked; becomes the contract's error object. */
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
