import { SwankError, type types } from "swank-client";
import { cutStart, cutText } from "../text/cut.js";
import { oddCharacterHint } from "../text/visible.js";
import { EVERY_TOOL, type ToolAnswer, type ToolGuide } from "./answer.js";
import { addressText, type Config, DEFAULT_HOST, type ImageAddress, isLoopback, tunnelTo } from "./config.js";

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
  DAMAGED_CODE: {
    meaning: "The code holds marks of Markdown or a prompt, or its line breaks were escaped twice. Nothing was run.",
    remedy: "Send the code as it is in the source file.",
  },
  EMPTY_CODE: {
    meaning: "The code contains no form, only white space or comments. Nothing was run.",
    remedy: "Send at least one form, for example (+ 1 2).",
  },
  NO_SUCH_OUTPUT: {
    meaning: "No output with that id is kept: the server keeps only the latest outputs that it has cut.",
    remedy: "Evaluate the code again, with a larger max-output.",
  },
  NO_SUCH_EVALUATION: {
    meaning:
      "No background evaluation with that id is kept: the server keeps those that run and the latest 20 that have ended, until reset-session.",
    remedy: "lisp-status lists the background evaluations.",
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
  NOT_STEPPABLE: {
    meaning: "The stop is an error, and a step would first invoke its CONTINUE restart. The stop is unchanged.",
    remedy: "Choose a restart: debugger_restarts lists them.",
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
  PAUSED: {
    meaning: "The user has paused this agent, and the call has waited for 50 s. Nothing was done.",
    remedy: "Call again later: the call then waits again until the user lets this agent go on.",
  },
  THROWN_OUT: {
    meaning: "The user has thrown this agent out: what it ran and had stopped was ended, and its calls are refused.",
    remedy:
      "Calling again changes nothing: only the user can let this agent back, on the page of its own server (--page) or by starting that server again. Tell the user what is not done.",
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
      "The image does not answer: its process hangs, is suspended, or is very busy, requests wait for a lock that another thread holds, or the connection is interrupted.",
    remedy:
      "Wait, then call again. reset-session replaces an image that the server launched; the user must free or restart any other, or repair the connection.",
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

/** The refusal of arguments that do not fit together. */
export function misused(tool: string, problem: string, remedy = "Correct this and call again."): Refusal {
  return new Refusal("INVALID_ARGUMENTS", `${tool}: ${problem}`, { remedy });
}

/** The same error of `swank-client` with a remedy in terms of this server's options. */
function reworded(cause: SwankError, remedy: string): SwankError {
  return new SwankError(cause.code, cause.message, { cause, remedy, details: cause.details });
}

interface Translation {
  readonly code: RefusalCode;
  /** The contract's message, which replaces the client's. The remedy then repeats the client's message before `next`. */
  readonly message?: string;
  readonly next?: string;
}

/** The refusals for errors of the client, by code. All other codes stay unchanged. */
const TRANSLATIONS: Readonly<Record<string, Translation>> = {
  NO_SUCH_FRAME: {
    code: "INVALID_FRAME",
    message: "Frame index out of range",
    next: "debugger_frames lists them.",
  },
  STALE_SESSION: { code: "STALE_STOP" },
  NO_SUCH_RESTART: { code: "NO_SUCH_RESTART" },
  NO_SUCH_BREAKPOINT: { code: "NO_SUCH_BREAKPOINT" },
  NO_SUCH_THREAD: { code: "STALE_STOP" },
};

/** Translates an error of the client into the refusal that agents know. Returns any other error unchanged. */
function translateError(error: unknown): unknown {
  if (!(error instanceof SwankError)) return error;
  const translation = TRANSLATIONS[error.code];
  if (translation === undefined) return error;
  const { code, message, next } = translation;
  if (message === undefined) return new Refusal(code, error.message, { cause: error });
  return new Refusal(code, message, { cause: error, remedy: `${error.message} ${next}` });
}

/** JSON-RPC's code for errors that a server defines; the contract debugger-tools uses it for every refusal. */
const SERVER_ERROR = -32000;

/** Most characters of a message and of an advice: both may repeat the caller's input. */
const MAX_MESSAGE = 8000;

/** An error in words, for an agent or a person. */
export interface Explained {
  readonly type: string;
  readonly message: string;
  readonly next?: string;
}

/** Explains an error of a tool. `advise` gives the part of an advice that its reader can use. */
export function explained(thrown: unknown, advise: (text: string) => string): Explained {
  const { type, ...texts } = explain(translateError(thrown));
  const message = cutText(texts.message, MAX_MESSAGE);
  // The client cancelled the call itself, and needs no advice.
  const next = type === "CANCELLED" ? "" : cutText(advise(texts.next), MAX_MESSAGE);
  return { type, message, ...(next === "" ? {} : { next }) };
}

/** Turns an error of a tool into the contract's error object and an equivalent text. */
export function explainError(thrown: unknown, guide: ToolGuide = EVERY_TOOL): ToolAnswer {
  const { type, message, next } = explained(thrown, (text) => guide.advice(text));
  return {
    blocks: [next === undefined ? message : `${message}\n${next}`],
    isError: true,
    structured: { error: { code: SERVER_ERROR, message, data: { type, ...(next === undefined ? {} : { next }) } } },
  };
}

/** Whether an error was not expected, so that its stack must be reported. */
export function isDefect(thrown: unknown): boolean {
  return !isCoded(thrown) || thrown.code === "INTERNAL_ERROR";
}

function explain(thrown: unknown): Required<Explained> {
  if (isCoded(thrown)) {
    const { code, message, remedy } = thrown;
    const hint = code === "NO_SUCH_PACKAGE" ? oddCharacterHint(message) : [];
    return { message: [message, ...hint].join(" "), type: code, next: remedy };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return explain(new Refusal("INTERNAL_ERROR", `The server failed: ${message}`, { cause: thrown }));
}

function isCoded(thrown: unknown): thrown is Refusal | SwankError {
  return thrown instanceof Refusal || thrown instanceof SwankError;
}

/** Explains why an image cannot be attached to, with a remedy in terms of this server's options. */
export function explainUnattached(error: unknown, address: ImageAddress): unknown {
  if (!(error instanceof SwankError)) return error;
  switch (error.code) {
    case "CONNECTION_REFUSED":
      return unreachable(error, howToListen(address));
    case "HOST_NOT_FOUND":
      return unreachable(error, "Ask the user for the right name or address, and to start swank-mcp with it.");
    case "HOST_UNREACHABLE":
    case "CONNECT_TIMEOUT":
      return unreachable(error, `Ask the user whether that machine is up. ${throughTunnel(address)}`);
    case "SECRET_REJECTED":
    case "SECRET_UNREADABLE":
      return reworded(
        error,
        `${error.remedy} swank-mcp reads it from --secret-file FILE; with --no-secret it sends none.`,
      );
    default:
      return reworded(error, `${error.remedy}${missingSecret(error)}${otherPort(error, address)}`);
  }
}

/** Explains why an image cannot be attached to again after the user has disconnected all agents from it. */
export function explainKicked(error: unknown): unknown {
  if (!(error instanceof Refusal) || error.code !== "LISP_UNREACHABLE") return error;
  const message = `The user has disconnected all agents, with M-x swank-mcp-kick in Emacs. ${error.message}`;
  const remedy = "Ask the user whether you may go on. M-x swank-mcp-listen in Emacs lets agents in again.";
  return new Refusal("LISP_UNREACHABLE", message, { cause: error, remedy });
}

function unreachable(cause: SwankError, remedy: string): Refusal {
  return new Refusal("LISP_UNREACHABLE", `No Lisp can be reached. ${cause.message}`, { cause, remedy });
}

function howToListen(address: ImageAddress): string {
  return `Ask the user to evaluate this in the image (in Emacs, in the REPL), then call again:
  (swank:create-server :port ${address.port} :dont-close t)
With SLY, write slynk for swank. If the image has neither package, evaluate (ql:quickload :swank) first.${isLoopback(address.host) ? "" : ` ${throughTunnel(address)}`}`;
}

function throughTunnel(address: ImageAddress): string {
  return `By default Swank listens only on its own machine: ${tunnelTo(address)}.`;
}

function missingSecret({ details }: SwankError): string {
  return details.secretMissing === true ? " swank-mcp reads it from --secret-file FILE." : "";
}

function otherPort({ details }: SwankError, { host }: ImageAddress): string {
  if (details.port === undefined) return "";
  const there = host === DEFAULT_HOST ? details.port : addressText({ host, port: details.port });
  return ` swank-mcp must then be started with --attach ${there}.`;
}

/** The options that can correct a failed launch, by the client's error code. */
const OPTIONS: Readonly<Record<string, string>> = {
  LISP_NOT_FOUND: "To use another Lisp, SBCL or ECL, start swank-mcp with --lisp COMMAND.",
  SWANK_NOT_FOUND: "To use another Swank, start swank-mcp with --swank FOLDER.",
  LAUNCH_FAILED:
    "The environment and the options of swank-mcp are read when it starts: after changing them, restart it.",
};

const HEAP = "Start swank-mcp with another --dynamic-space-size, such as 1024, or without it.";

const ONLY_SBCL = "Start swank-mcp without --dynamic-space-size, or with --lisp COMMAND for an SBCL.";

/** Explains why no image can be launched, with a remedy in terms of this server's options. */
export function explainUnlaunched(error: unknown, { dynamicSpaceSize }: Pick<Config, "dynamicSpaceSize">) {
  if (!(error instanceof SwankError)) return error;
  if (error.code === "INVALID_ARGUMENT" && dynamicSpaceSize !== undefined)
    return reworded(error, error.details.implementation === undefined ? HEAP : ONLY_SBCL);
  const option = OPTIONS[error.code];
  return option === undefined ? error : reworded(error, `${error.remedy}\n${option}`);
}

export interface StartFile {
  readonly path: string;
  /** Whether the user named it with `--load`, so that it is not an init file. */
  readonly isNamed: boolean;
}

/** Explains why there is no image: a file ended it while it was loaded. */
export function explainEnding(file: StartFile, { code, signal, problem, outputTail }: types.ImageExit): Refusal {
  const how = signal === undefined ? `exit code ${code ?? "unknown"}` : `signal ${signal}`;
  const said = problem === "" ? outputTail.trim() : problem;
  const printed = said === "" ? "It printed nothing." : `Lisp printed:\n${cutStart(said, MOST_PRINTED, "")}`;
  return new Refusal("START_FAILED", `${file.path} ended the image while it was loaded: ${how}. ${printed}`, {
    remedy: `Remove the form that ends Lisp, such as (exit), from ${file.path} and call again, or ${without(file)}.`,
  });
}

/** Explains why there is no image yet: a file is still being loaded. */
export function explainLoading(file: StartFile, seconds: number): Refusal {
  return new Refusal("START_FAILED", `The image is not ready: it has been loading ${file.path} for ${seconds} s.`, {
    remedy: `Call again to wait longer. If the file never ends, correct it, then ${without(file)}.`,
  });
}

function without({ path, isNamed }: StartFile): string {
  return `restart swank-mcp ${isNamed ? `without --load ${path}` : "with --no-user-init"}`;
}

/** Most characters repeated of what an image printed. */
const MOST_PRINTED = 1000;
