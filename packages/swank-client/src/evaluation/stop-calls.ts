import { randomUUID } from "node:crypto";
import { type Decoded, DecodeError, type Decoder, decode, keyword, NIL, print, quote, type Sexp } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, checkOptions, shownValue } from "../base/options.js";
import { type WaitOptions, waitOptions, within } from "../base/waiting.js";
import { keywordOf, lispFunction, nothing } from "../runtime/function.js";
import { lispLimit, printedValues } from "./evaluate.js";
import {
  effectiveMethods,
  frameFields,
  type LocalBinding,
  type OmittedOutput,
  type OutputStream,
  type Restart,
  STEP_MODES,
  type StopData,
  type StopOwner,
  type StopReport,
  stopReport,
  variableMarks,
} from "./report.js";

const { boolean, integer, list, map, nullable, optional, plist, record, string, tagged, tuple, tupleRest } = decode;

/** The reply of a function that makes its thread leave the stop: such a function replies only with refusals. */
const leaving = {
  where: "stopped-thread",
  decode: (datum: Sexp): undefined => {
    throw new DecodeError("a refusal", datum);
  },
  unwound: () => undefined,
} as const;

/** `(:no-frame TOTAL)` */
const noFrame = (frame: number): Decoder<SwankError> =>
  map(
    tuple(integer),
    ([total]) => new SwankError("NO_SUCH_FRAME", `There is no frame ${frame}; there are frames 0 to ${total - 1}.`),
  );

/** Why a frame can be neither restarted nor returned from: what follows its function's name in the message. */
const FRAME_REFUSALS = {
  toplevel: "is below the code of the evaluation",
  "no-tag": "was compiled without debug information",
  local: "is a local function, a lambda expression or a cleanup form, which SBCL cannot call or leave by itself",
  method: "is a method that others run before, after or around, so calling the generic function would run those again",
  arguments: "has arguments that are not certain, because the compiler dropped some",
  defaults:
    "may have been called without an argument for which its definition now has another default, so its arguments are not certain",
  count: "now takes another number of arguments",
  undefined: "is not defined any more",
  "not-begun": "has not begun: a breakpoint stopped the call before it. Continue instead",
} as const;

const REASONS = [
  "toplevel",
  "no-tag",
  "local",
  "method",
  "arguments",
  "defaults",
  "count",
  "undefined",
  "not-begun",
] as const satisfies (keyof typeof FRAME_REFUSALS)[];

/** `(:not-restartable REASON FUNCTION [OUTER-INDEX OUTER-CALL])`, of a frame to restart, or `:not-returnable`, of one to return from */
function notLeft(frame: number, done: string, act: string): Decoder<SwankError> {
  return map(
    tuple(keywordOf(REASONS), string, optional(integer), optional(string)),
    ([reason, name, outer, call]) =>
      new SwankError("NOT_RESTARTABLE", `Frame ${frame} cannot be ${done}: ${name} ${FRAME_REFUSALS[reason]}.`, {
        remedy: `${outer === undefined ? "Use a restart of the stop" : `${act} the outer frame ${outer}, ${call}`}; the stop is unchanged.`,
      }),
  );
}

/** `(:error TYPE MESSAGE [PACKAGE [SET]])` of code that was evaluated in a frame; PACKAGE is the one in which it was read. */
const evaluationFailed: Decoder<SwankError> = map(
  tuple(string, string, optional(string), optional(list(string))),
  ([type, message, packageName, set]) =>
    new SwankError("FRAME_EVALUATION_FAILED", `${type}: ${message}`, {
      remedy:
        packageName &&
        `The code was read in package ${packageName}. Correct it and evaluate it again; the stop is unchanged.${alreadySet(set)}`,
    }),
);

/** `(:no-such-package)`: there is no package to read the code in. */
export const noSuchPackage = (name: string): Decoder<SwankError> =>
  nothing(() => new SwankError("NO_SUCH_PACKAGE", `There is no package named ${name}.`));

/** `(:interrupted [SET])`: the expressions were interrupted. */
const codeInterrupted: Decoder<SwankError> = map(
  tuple(optional(list(string))),
  ([set]) =>
    new SwankError("FRAME_EVALUATION_TIMEOUT", "The code was interrupted.", {
      remedy: set && `Evaluate code that takes less time.${alreadySet(set)}`,
    }),
);

/** What code that ended early has changed in its frame. */
function alreadySet(names: readonly string[] = []): string {
  return names.length === 0 ? "" : ` The code has already set ${names.join(", ")}.`;
}

/** `(:wrong-count FEWEST MOST ASKS-P)`, of a restart. */
const wrongCount = (name: string) =>
  map(tuple(integer, nullable(integer), boolean), ([fewest, most, asks]) => {
    const values =
      most === 0
        ? "Invoke it without values; if its code reads them, give them as stdin"
        : "Invoke it with one Lisp expression for each value";
    const text = asks ? ", or the text that the restart reads as stdin" : "";
    return invalid(`The restart ${name} takes ${count(fewest, most)}.`, `${values}${text}. The stop is unchanged.`);
  });

/** `(:wrong-arguments LAMBDA-LIST)`, of a restart. */
const wrongArguments = (name: string) =>
  map(tuple(string), ([lambdaList]) =>
    invalid(
      `The restart ${name} has the lambda list ${lambdaList}.`,
      "Give one Lisp expression for each argument; a keyword and its value are two. The stop is unchanged.",
    ),
  );

/** `(:too-short PROMPT)`: a restart read more than it was given as stdin. */
const tooShort = (name: string) =>
  map(tuple(string), ([prompt]) => {
    const asked = prompt.trim() === "" ? "" : ` It asked: ${prompt.trim()}`;
    return invalid(
      `The restart ${name} reads more than stdin has.${asked}`,
      "Give all of its input as stdin, or a Lisp expression for each value as values. The stop is unchanged.",
    );
  });

/** `(:no-input)`: the thread reads from the image's own streams. */
const noInput = nothing(() =>
  invalid(
    "This thread runs no evaluation: its code does not read what a client gives as stdin.",
    "Leave stdin out. The stop is unchanged.",
  ),
);

function invalid(message: string, remedy: string): SwankError {
  return new SwankError("INVALID_ARGUMENT", message, { remedy });
}

/** `(:unanswered PLACE ...)`: the code of ASSERT would ask about its places, and find no answers. */
const unanswered = map(list(string), (places) =>
  invalid(
    `After CONTINUE, ASSERT asks for new values of: ${places.join(", ")}.`,
    "Invoke CONTINUE with a Lisp expression for each as its values. Or give as stdin for each a line y and a line with an expression, or a line n to keep the value. The stop is unchanged.",
  ),
);

/** `(:cannot-ask [APART-P])`: the code of ASSERT would ask on other streams than the evaluation's. */
const cannotAsk = map(tuple(optional(boolean)), ([apart]) =>
  invalid(
    `After CONTINUE, ASSERT asks for new values, but ${apart ? "the code's *QUERY-IO* is a stream of its own" : "this thread runs no evaluation"}: its code does not read what a client gives.`,
    "Use another restart, or restart or return from a frame. The stop is unchanged.",
  ),
);

/** `(:error TYPE MESSAGE)` of a value for a restart, or for a place of ASSERT. */
const badValue = (name: string) =>
  map(tuple(string, string), ([type, message]) =>
    invalid(
      `A value for the restart ${name} could not be evaluated: ${type}: ${message}`,
      "Correct the expression; the stop is unchanged.",
    ),
  );

/** The error for an index that is not in a stop's restart list. */
export function noRestart(index: number, count: number): SwankError {
  const message = `There is no restart ${shownValue(index)}; there are restarts 0 to ${count - 1}.`;
  return new SwankError("NO_SUCH_RESTART", message);
}

/** The error for every request to a stop that has ended. */
export function leftStop(label: string, { thread, level, owner }: StopData): SwankError {
  const remedy = owner && `It resumed in ${owner.text}. foreignStops lists the current stops.`;
  const message = `${label}: Thread ${thread} has left the stop at level ${level}.`;
  return new SwankError("STALE_SESSION", message, { remedy });
}

/** The error for a restart that returned instead of leaving the stop, which `restart-bind` permits. */
export function restartReturned(name: string): SwankError {
  return new SwankError(
    "REQUEST_ABORTED",
    `The restart ${name} returned instead of transferring control: the thread is still stopped.`,
    { remedy: "Choose another restart to continue." },
  );
}

/** `(:no-restart)`: the stop has no restart with that name, although Lisp usually offers it. */
const lacks = (name: string) => nothing(() => new SwankError("NO_SUCH_RESTART", `This stop has no ${name} restart.`));

function count(fewest: number, most: number | undefined): string {
  if (most === 0) return "no values";
  const values = (most ?? fewest) === 1 ? "value" : "values";
  if (most === undefined) return `at least ${fewest} ${values}`;
  return fewest === most ? `${most} ${values}` : `${fewest} to ${most} ${values}`;
}

const source = tagged({
  file: record({
    file: string,
    /** From 1; `undefined` if the file can no longer be read there. */
    line: nullable(integer),
    /** From 1, in characters. */
    column: nullable(integer),
  }),
  form: record({
    /** The form as Lisp prints it; `#:***HERE***` marks the call in progress. */
    form: string,
  }),
});

/** Where code came from: a place in a file on the image's machine, or the form itself when it was evaluated. */
export type Source = Decoded<typeof source>;

/** A variable of a frame. Its value is printed within limits, on one line. */
export interface Variable extends LocalBinding {
  /** `(swank-objects:ref N)` returns the object in evaluated code while the thread is at this stop; `undefined` if it is unavailable. */
  readonly objectId: number | undefined;
}

/** `(NAME VALUE NUMBER MARK ...)` */
const variable: Decoder<Variable> = map(
  tupleRest([string, string, nullable(integer)], variableMarks),
  ([name, value, objectId, marks]) => ({ name, value, objectId, marks }),
);

/** Frames that are read unless the caller says how many. */
export const FRAMES_OF_PAGE = 20;

const localFields = {
  /** The first 100. */
  locals: list(variable),
  /** Number of all variables. */
  totalLocals: integer,
};

/** Decodes a plist of lisp/debug/frames.lisp. */
const frame = plist({
  ...frameFields,
  /** The function's name with its package, e.g. `MY-APP:COMPUTE`. */
  function: string,
  /** True if `restartFrame` can call the frame's function again. */
  restartable: boolean,
  source: nullable<Source>(source),
  /** The methods that the call of a generic function runs, in order; empty if they are unknown, or listed at a frame further in. */
  methods: effectiveMethods,
  ...localFields,
});

/** One frame of a stopped thread. */
export interface Frame extends Decoded<typeof frame> {}

const framePage = record({
  frames: list<Frame>(frame),
  /** Number of all frames of the thread. */
  totalFrames: integer,
  /** The image's current directory, ending in `/`. */
  directory: string,
  /** The package from which symbols are printed, if that is not the one in which this client works. */
  printedFrom: nullable(string),
});

/** A range of a thread's frames. */
export interface FramePage extends Decoded<typeof framePage> {}

/** Reads the frames of a stop from `start` to `end` (exclusive), with their variables (lisp/debug/frames.lisp). */
export const frames = lispFunction({
  name: "frames",
  ability: "frames",
  where: "stopped-thread",
  module: "debug",
  encode: (level: number, start: number, end: number) => [level, start, end],
  decode: tagged({ frames: framePage }),
  refusals: { "no-frame": (_level: number, start: number) => noFrame(start) },
});

const locals = record({
  ...localFields,
  catchTags: list(string),
  /**
   * True if an interrupt stopped one of SBCL's own functions at an arbitrary instruction. Its variable slots may not hold objects there, so
   * neither the variables nor the arguments in `call` are read.
   */
  unread: boolean,
});

/** Variables and catch tags of one frame. */
export interface FrameLocals extends Decoded<typeof locals> {}

/** Reads the variables and catch tags of one frame of a stop (lisp/debug/frames.lisp). */
export const frameLocals = lispFunction({
  name: "frame-locals",
  ability: "locals",
  where: "stopped-thread",
  module: "debug",
  encode: (level: number, frame: number) => [level, frame],
  decode: tagged({ locals }),
  refusals: { "no-frame": (_level: number, frame: number) => noFrame(frame) },
  label: () => "frame locals",
});

/** `(TEXT COUNT)`: the beginning of what was printed, and the number of other characters. */
const printed = record({ text: string, count: integer });

function omittedOf(stream: OutputStream, { text, count }: Decoded<typeof printed>): readonly OmittedOutput[] {
  return count === 0 ? [] : [{ stream, at: text.length, count }];
}

/** `((:values (VALUE ...) :cut (CUT ...) :count COUNT) OUTPUT OUTPUT PACKAGE SET)` */
const frameValue = map(
  tuple(printedValues, printed, printed, string, list(string)),
  ([values, stdout, stderr, packageName, set]) => ({
    ...values,
    /** What the code printed to each stream: the first 20,000 characters. */
    stdout: stdout.text,
    stderr: stderr.text,
    /** The number of the other characters of each stream; empty if there are none. */
    outputOmitted: [...omittedOf("stdout", stdout), ...omittedOf("stderr", stderr)],
    /** The package in which the code was read and the values were printed. */
    package: packageName,
    /**
     * The names of the frame's variables to which the code gave another value. The program sees it only where the compiler has not derived
     * constants or types from the old value. Arguments of a call that a breakpoint stopped before it began are not among them: it gets the new
     * ones.
     */
    set,
  }),
);

/** Values and output of an evaluation in a frame. */
export interface FrameValue extends Readonly<Decoded<typeof frameValue>> {}

/**
 * Evaluates code in a frame of a stop (lisp/debug/frames.lisp). `attempt` names the evaluation for `endAttempt`. The code is read in
 * `packageName` or, without one, in the package of the frame's function. With `"ids"` as limit, the values are ids under which the image keeps them.
 */
export const evalInFrame = lispFunction({
  name: "eval-in-frame",
  ability: "eval-in-frame",
  where: "stopped-thread",
  module: "debug",
  encode: (
    level: number,
    frame: number,
    attempt: string,
    code: string,
    packageName: string | undefined,
    valueLimit: number | "ids" | undefined,
  ) => [level, frame, attempt, code, packageName ?? NIL, ...limits(valueLimit)],
  decode: tagged({ values: frameValue }),
  refusals: {
    "no-frame": (_level: number, frame: number) => noFrame(frame),
    "no-such-package": (_level, _frame, _attempt, _code, packageName: string | undefined) =>
      noSuchPackage(packageName ?? ""),
    error: () => evaluationFailed,
    interrupted: () => codeInterrupted,
  },
  label: (_level, frame) => `Evaluating in frame ${frame}`,
});

/** The argument for standard input, if there is any. */
function given(stdin: string | undefined): readonly string[] {
  return stdin === undefined ? [] : [stdin];
}

function limits(valueLimit: number | "ids" | undefined) {
  if (valueLimit === undefined) return [];
  return [valueLimit === "ids" ? NIL : lispLimit(valueLimit)];
}

/** Leaves a stop through a restart with the values of expressions (lisp/evaluate/control.lisp). `attempt`: see `evalInFrame`. */
export const invokeRestart = lispFunction({
  name: "invoke-offered-restart",
  ability: "restarts",
  ...leaving,
  module: "evaluate",
  encode: (level: number, { index }: Restart, attempt: string, values: readonly string[], stdin?: string) => {
    return [level, index, attempt, quote(check.texts("values", values)), ...given(stdin)];
  },
  refusals: {
    "no-restart": (_level: number, { index }: Restart) =>
      nothing(() => new SwankError("NO_SUCH_RESTART", `There is no restart ${index} at this stop.`)),
    "wrong-count": (_level: number, { name }: Restart) => wrongCount(name),
    "no-input": () => noInput,
    "cannot-ask": () => cannotAsk,
    unanswered: () => unanswered,
    "too-short": (_level: number, { name }: Restart) => tooShort(name),
    "wrong-arguments": (_level: number, { name }: Restart) => wrongArguments(name),
    returned: (_level: number, { name }: Restart) => nothing(() => restartReturned(name)),
    error: (_level: number, { name }: Restart) => badValue(name),
    interrupted: () => codeInterrupted,
  },
  label: (_level, { name }) => `Restart ${name}`,
});

/** Calls the function of a frame again (lisp/debug/frames.lisp). The thread leaves the stop. */
export const restartFrame = lispFunction({
  name: "restart-frame",
  ability: "restart-frame",
  ...leaving,
  module: "debug",
  encode: (level: number, frame: number) => [level, frame],
  refusals: {
    "no-frame": (_level: number, frame: number) => noFrame(frame),
    "not-restartable": (_level: number, frame: number) => notLeft(frame, "restarted", "Restart"),
    error: () => evaluationFailed,
  },
  label: (_level, frame) => `Restarting frame ${frame}`,
});

/** Returns from a frame with the values of code (lisp/debug/frames.lisp). The thread leaves the stop. `attempt`: see `evalInFrame`. */
export const returnFromFrame = lispFunction({
  name: "return-from-frame",
  ability: "return-from-frame",
  ...leaving,
  module: "debug",
  encode: (level: number, frame: number, attempt: string, code: string) => [level, frame, attempt, code],
  refusals: {
    "no-frame": (_level: number, frame: number) => noFrame(frame),
    "not-returnable": (_level: number, frame: number) => notLeft(frame, "returned from", "Return from"),
    error: () => evaluationFailed,
    interrupted: () => codeInterrupted,
  },
  label: (_level, frame) => `Returning from frame ${frame}`,
});

/** What the code after CONTINUE may ask for. */
const askingRefusals = {
  "no-input": () => noInput,
  "cannot-ask": () => cannotAsk,
  unanswered: () => unanswered,
  error: () => badValue("CONTINUE"),
};

/** Resumes a stopped thread (lisp/debug/stepping.lisp). The thread leaves the stop. */
export const continueStop = lispFunction({
  name: "continue-stop",
  ability: "restarts",
  ...leaving,
  module: "debug",
  encode: (level: number, stdin?: string) => [level, ...given(stdin)],
  refusals: {
    "no-restart": () => lacks("CONTINUE"),
    "wrong-count": () => wrongCount("CONTINUE"),
    ...askingRefusals,
  },
  label: () => "continue",
});

const checkMode = check.choice(STEP_MODES);

/** One of `STEP_MODES`. */
export type StepMode = (typeof STEP_MODES)[number];

/** `(:not-steppable REASON [FUNCTION])` */
const notSteppable = tagged({
  "no-way-on": nothing(() => refused("This stop cannot be stepped from: it has no CONTINUE restart.")),
  "foreign-thread": nothing(() => refused("This thread runs no evaluation: it can be stepped only from a breakpoint.")),
  code: map(tuple(string), ([name]) =>
    refused(
      `${name} is compiled without stepping information.`,
      `Evaluate the definition of ${name} again: evaluations compile for stepping; other code needs (declaim (optimize (debug 3))). Then stop there again. Stepping out works without it.`,
    ),
  ),
});

/** Steps on from a stop (lisp/debug/stepping.lisp). The thread leaves the stop. */
export const stepOn = lispFunction({
  name: "step-on",
  ability: "stepping",
  ...leaving,
  module: "debug",
  encode: (level: number, mode: StepMode, stdin?: string) => [level, keyword(checkMode("mode", mode)), ...given(stdin)],
  refusals: {
    "not-steppable": () => notSteppable,
    ...askingRefusals,
  },
  label: (_level: number, mode: StepMode, _stdin?: string) => `step ${mode}`,
});

/** The error for stepping another client's thread: its next stop would be in the owner's debugger. */
export function steppedElsewhere(thread: number, owner: StopOwner): SwankError {
  return refused(
    `Thread ${thread} is stopped in ${owner.text}: it can be stepped only there.`,
    "Look at its frames and variables, or choose a restart.",
  );
}

function refused(message: string, remedy?: string): SwankError {
  return new SwankError("NOT_STEPPABLE", message, { remedy });
}

/** The outcome of a request to unwind a stopped thread. */
export type Unwinding =
  /** The thread left the stop; Swank replied `:abort`, which carries no other information. */
  | { readonly unwound: true }
  /** The thread did not leave, and is stopped as before. */
  | {
      readonly unwound: false;
      /** Swank's explanation, if it gave one. */
      readonly explanation: string | undefined;
    };

/** Decodes a normal reply, which means that the thread was not unwound. */
export const refusal: Decoder<Unwinding> = (datum: Sexp) => ({ unwound: false, explanation: explanation(datum) });

const explanation = decode.oneOf(string, decode.nil, (datum: Sexp) => print(datum));

/** The outcome for an `:abort` reply: the thread was unwound. */
export const unwound = (): Unwinding => ({ unwound: true });

/**
 * `(swank:throw-to-toplevel)`: aborts the request that a stopped thread is serving. Runs on that thread.
 */
export const throwToToplevel = lispFunction({
  name: "swank:throw-to-toplevel",
  where: "stopped-thread",
  decode: refusal,
  unwound,
});

/** Every reply means that the thread is still stopped. */
const stillStopped: Decoder<undefined> = map(decode.any, () => {
  throw restartReturned("ABORT");
});

/** Unwinds a stopped thread to where its request began (lisp/evaluate/control.lisp). */
export const abortStop = lispFunction({
  name: "abort-stop",
  ability: "restarts",
  where: "stopped-thread",
  module: "evaluate",
  decode: stillStopped,
  unwound: () => undefined,
  refusals: { "no-restart": () => lacks("ABORT") },
  label: () => throwToToplevel.name,
});

/** Does the same in an image without the runtime. */
export const abortPlainStop = lispFunction({ ...throwToToplevel, decode: stillStopped, unwound: () => undefined });

/** Milliseconds that the image has to answer. */
const END_TIME = 30_000;

/** Interrupts the evaluation named `attempt` in a stopped thread; false if there is no such thread (lisp/debug/attempt.lisp). */
export const endAttempt = lispFunction({
  name: "end-attempt",
  ability: "restarts",
  module: "evaluate",
  encode: (thread: number, attempt: string) => [thread, attempt],
  decode: boolean,
  timeout: END_TIME,
  label: () => "interrupting an evaluation",
});

/** Describes a stop in another client's debugger (lisp/debug/foreign-stops.lisp), whose identity is known from the list. */
export const describeForeignStop = lispFunction({
  name: "describe-foreign-stop",
  where: "stopped-thread",
  module: "debug",
  decode: (datum: Sexp): Omit<StopReport, "number" | "threadName"> => {
    const { number, threadName, ...report } = stopReport(datum);
    return report;
  },
  label: () => "describing a stop",
});

/** Default timeout of expressions, in milliseconds. */
const ATTEMPT_TIME = 30_000;

/** Milliseconds to wait after each interrupt for the code to end; it may run without interrupts for a while. */
const INTERRUPT_PAUSES = [300, 700, 2000] as const;

/** A caller's expressions that a stopped thread evaluates. */
interface Expressions<Result> {
  readonly label: string;
  /** Starts their evaluation. `interrupt` interrupts it by the same token (lisp/debug/attempt.lisp). */
  start(token: string): Promise<Result>;
  interrupt(token: string): Promise<unknown>;
}

/**
 * Evaluates expressions with a timeout, after which the expressions are interrupted. The stop stays.
 *
 * @throws SwankError `FRAME_EVALUATION_TIMEOUT`; `CANCELLED`; `REQUEST_TIMEOUT` if the code could not be interrupted; the errors of `start`.
 */
export async function attempt<Result>(expressions: Expressions<Result>, options: WaitOptions): Promise<Result> {
  const { label } = expressions;
  checkOptions(label, options, waitOptions);
  const { timeout = ATTEMPT_TIME, signal } = options;
  // Unique across processes: other clients may evaluate in the same thread.
  const token = randomUUID();
  const started = expressions.start(token).then((result) => ({ result }));
  // Another request may reject first.
  started.catch(() => undefined);
  const done = await within(started, { timeout, signal });
  if (done !== undefined) return done.result;
  try {
    return await interrupt(expressions, token, started);
  } catch (error) {
    if (!(error instanceof SwankError) || error.code !== "FRAME_EVALUATION_TIMEOUT") throw error;
    throw signal?.aborted
      ? new SwankError("CANCELLED", `${label} was cancelled.`, { cause: signal.reason })
      : new SwankError(
          "FRAME_EVALUATION_TIMEOUT",
          `${label} took longer than ${timeout / 1000} s and was interrupted.`,
          { remedy: error.remedy },
        );
  }
}

/** @param started - The result of the expressions. */
async function interrupt<Result>(
  { label, interrupt: end }: Expressions<Result>,
  token: string,
  started: Promise<{ readonly result: Result }>,
): Promise<Result> {
  for (const timeout of INTERRUPT_PAUSES) {
    await end(token);
    const done = await within(started, { timeout });
    if (done !== undefined) return done.result;
  }
  throw new SwankError(
    "REQUEST_TIMEOUT",
    `${label} could not be interrupted: it runs without interrupts and continues.`,
    { remedy: "Wait: the stop answers again when the code has ended." },
  );
}
