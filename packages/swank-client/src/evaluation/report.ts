import { type Decoded, type DecodedFields, type Decoder, decode, isList, keyword, type Sexp } from "sexp-parser";
import { keywordOf, lispFunction, nameOf } from "../runtime/function.js";
import type { DebugMessage, Reply } from "../wire/messages.js";

const { boolean, from, integer, list, map, nullable, optional, plist, record, string, tuple, tupleRest, withDefault } =
  decode;

/** `user`: code being debugged. `system`: SBCL's own frames above it. `toplevel`: the evaluator, Swank and the runtime below it. */
export const FRAME_KINDS = ["user", "system", "toplevel"] as const;

/** `:user`, `:system` or `:toplevel`. */
export const frameKind = keywordOf(FRAME_KINDS);

export const frameFields = {
  /** Swank's frame number, 0 is the innermost. */
  index: integer,
  /** The call as Lisp prints it, on one line, e.g. `(FACT 3)`. */
  call: string,
  kind: frameKind,
};

/** One entry of a backtrace. */
export interface FrameSummary extends DecodedFields<typeof frameFields> {
  /** The line that the frame has reached, if it is known: only of the first frames of kind `user` in a report. */
  readonly place?: Place | undefined;
}

/** A line in a file. */
export interface Place {
  /** Relative to the image's directory, or the file's last folder and name. */
  readonly file: string;
  /** The same file with all its folders. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
}

/** `(INDEX CALL KIND [SHOWN-FILE LINE FILE])` */
export const frameSummary: Decoder<FrameSummary> = map(
  tuple(integer, string, frameKind, optional(string), optional(integer), optional(string)),
  ([index, call, kind, file, line, path]) => ({
    index,
    call,
    kind,
    ...(file === undefined || line === undefined || path === undefined ? {} : { place: { file, path, line } }),
  }),
);

/** How many values a restart takes. */
export interface RestartArguments {
  /** A restart that would ask the user for a value needs at least 1. */
  readonly min: number;
  /** `undefined`: any number. */
  readonly max: number | undefined;
}

/** A restart, as offered at a stop. */
export interface Restart {
  /** Position in the stop's restart list, from 0, innermost first. */
  readonly index: number;
  /** Name as printed, `""` for an anonymous restart. */
  readonly name: string;
  readonly description: string;
  /**
   * How many values it takes, if Lisp knows. It does not for a clause of `restart-case` whose lambda list is neither empty nor one required
   * parameter, for functions compiled without debugging information, and for stops that only Swank describes.
   */
  readonly arguments?: RestartArguments | undefined;
}

/** `((NAME DESCRIPTION [MIN MAX]) ...)`, innermost first (lisp/debug/conditions.lisp) */
export const restartList: Decoder<readonly Restart[]> = map(
  list(tuple(string, string, optional(integer), optional(nullable(integer)))),
  (entries) =>
    entries.map(([name, description, min, max], index) => ({
      index,
      name,
      description,
      ...(min === undefined ? {} : { arguments: { min, max } }),
    })),
);

/** `(NAME VALUE)`, both as Lisp prints them. */
export const binding = record({
  /** As code writes it. */
  name: string,
  /** As Lisp prints it. */
  value: string,
});

/** A variable of a frame, or a slot of a condition, with its value as Lisp prints it. */
export interface Binding extends Decoded<typeof binding> {}

/** Facts about a variable of a frame. */
export const VARIABLE_MARKS = ["argument", "shadowed", "unavailable"] as const;

/** `shadowed`: a binding further in has the same name. `unavailable`: the compiler has dropped the value. */
export type VariableMark = (typeof VARIABLE_MARKS)[number];

/** A variable of a frame. */
export interface LocalBinding extends Binding {
  readonly marks: readonly VariableMark[];
}

/** `(MARK ...)` */
export const variableMarks: Decoder<readonly VariableMark[]> = list(keywordOf(VARIABLE_MARKS));

/** `(NAME VALUE MARK ...)` */
export const localBinding: Decoder<LocalBinding> = map(
  tupleRest([string, string], variableMarks),
  ([name, value, marks]) => ({ name, value, marks }),
);

const conditionFields = plist({
  /** The type to show: the most specific standard superclass for SBCL's own classes, otherwise the class itself. */
  type: string,
  /** Exact class, package-qualified, e.g. `SB-INT:SIMPLE-READER-ERROR`. */
  class: string,
  /** Class precedence list without `T` and slot-object, most specific first. */
  supertypes: list(string),
  message: string,
  /** Of an undefined function or unbound variable: up to five names that may be meant, as code in another package writes them. */
  near: optional(list(string)),
  slots: list<Binding>(binding),
  restarts: restartList,
  /** The innermost frames, at most 200. */
  frames: list(frameSummary),
  totalFrames: from("total", integer),
  /** The package from which symbols are printed, if that is not the one in which this client works. */
  printedFrom: optional(nullable(string)),
});

/** Everything known about a condition that stopped or ended an evaluation: plain data that outlives the thread. */
export interface ErrorSnapshot extends Decoded<typeof conditionFields> {
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** Decodes the condition in a plist of lisp/debug/snapshot.lisp. */
export const errorSnapshot: Decoder<ErrorSnapshot> = map(conditionFields, (fields) => ({
  ...fields,
  timestamp: Date.now(),
}));

const effectiveMethod = record({
  /** As code names it, with packages: `(METHOD SHAPES:AREA :AROUND (SHAPES:CIRCLE))`. */
  name: string,
  /** True if it runs only if the method before it calls `call-next-method`. */
  isNext: boolean,
});

/** A method that a call of a generic function runs. */
export interface EffectiveMethod extends Decoded<typeof effectiveMethod> {}

/** `((NAME NEXT) ...)` (lisp/debug/calls.lisp) */
export const effectiveMethods = list<EffectiveMethod>(effectiveMethod);

/** `(FILE COUNT (NAME ...))` (lisp/evaluate/definitions.lisp) */
const redefinedIn = record({
  /** The file that was loaded, relative to the image's directory; `undefined` for the evaluation's own forms. */
  file: nullable(string),
  count: integer,
  /** The first 50 different names, e.g. `AVERAGE` or `(METHOD PROCESS :AROUND (STAGE))`. */
  names: list(string),
});

/** Definitions that the forms of an evaluation, or one file, replaced. */
export interface RedefinedIn extends Decoded<typeof redefinedIn> {}

/** `(NAME COUNT (USER ...))` */
const staleUse = record({
  name: string,
  count: integer,
  /** The first 50, in alphabetical order. */
  users: list(string),
});

/** A redefined macro, inline function or function that macros call, and the functions that were compiled with the old definition and still exist. */
export interface StaleUse extends Decoded<typeof staleUse> {}

const insideCount = record({
  name: string,
  count: integer,
  /** False if there may be more, because some threads could not be asked. */
  complete: boolean,
});

/** The number of threads that are still inside the old definition of a function or method. */
export interface ThreadsInside extends Decoded<typeof insideCount> {}

/** `((NAME COUNT ALL) ...)` (lisp/evaluate/looks.lisp) */
export const threadsInside = list<ThreadsInside>(insideCount);

/** What an evaluation redefined. */
export interface Redefinitions {
  /** All redefinitions, including those that `files` does not count: it has the first 2,000. */
  readonly count: number;
  readonly files: readonly RedefinedIn[];
  readonly stale: readonly StaleUse[];
  /** Without those of which no thread is known. */
  readonly inside: readonly ThreadsInside[];
}

/** Of an evaluation that redefined nothing. */
export const NO_REDEFINITIONS: Redefinitions = { count: 0, files: [], stale: [], inside: [] };

const signalledCondition = plist({
  /** The class, with its package unless that is COMMON-LISP. */
  type: string,
  /** Their different reports, the first three; empty if none can be printed any more. */
  messages: list(string),
  /** True if there were others. */
  moreMessages: boolean,
  /** The function that signalled it, `top level` for the evaluated forms; `undefined` if it is not known. */
  place: nullable(string),
  /** The program's function that called `place`, if that is one of Lisp's. */
  caller: nullable(string),
  /** The type in the clause that took it, if it is known. */
  clause: nullable(string),
  /** The function with that clause; `undefined` if no handler took the condition. */
  handler: nullable(string),
  count: integer,
});

/** Conditions that an evaluation signalled, and that differ only in their messages. */
export interface SignalledCondition extends Decoded<typeof signalledCondition> {}

/** Decodes a plist of lisp/evaluate/condition-log.lisp. */
const signalledConditions = plist({
  /** The first 40 different ones, in the order in which they were first signalled. */
  entries: list<SignalledCondition>(signalledCondition),
  /** The number of conditions that are not counted in `entries`. */
  others: integer,
  /** The number of conditions that Lisp's own functions handled. */
  internal: integer,
});

/** The conditions that an evaluation and the threads that it started signalled. */
export interface SignalledConditions extends Decoded<typeof signalledConditions> {}

/** `ERROR`: the compiler cannot compile a form of a file, and puts an error in its place, or cannot read the file. `COMPILER-WARNING`: a note. */
const WARNING_TYPES = ["ERROR", "WARNING", "STYLE-WARNING", "COMPILER-WARNING"] as const;

const warningType = nameOf(WARNING_TYPES, string);

/** The position of a form by its path; `undefined` for an empty path. */
const formPosition = map(list(integer), (path) =>
  path.length === 0 ? undefined : { kind: "path" as const, path, offset: undefined },
);

/** `(TYPE CLASS MESSAGE FORM-PATH [SHOWN-FILE DEFINITION FILE])` (lisp/evaluate/warnings.lisp) */
const lispWarning = record({
  type: warningType,
  /** The exact condition class, package-qualified. */
  class: string,
  message: string,
  /**
   * The form that it is about, or the top-level form if that is all Lisp knows: a path in `file` or, for the evaluation's own forms, in the
   * evaluated code. Absent if it is not known. `Sources.locate(warning)` finds its line and column.
   */
  position: optional(formPosition),
  /** The file whose code caused it, as answers show it: relative to the image's directory, or its last folder and name. Absent for the evaluation's own forms. */
  file: optional(string),
  /** The definition that was being compiled in that file, e.g. `(DEFUN AREA)`. */
  definition: optional(nullable(string)),
  /** The same file with all its folders. */
  path: optional(string),
});

/** A warning or compiler note signalled while code was read, compiled or run. */
export interface LispWarning extends Decoded<typeof lispWarning> {}

const warningCount = record({
  /** Relative to the image's directory. */
  file: string,
  type: warningType,
  count: integer,
});

/** The number of warnings of one type about the code of one file. */
export interface WarningCount extends Decoded<typeof warningCount> {}

const STOP_REASONS = ["error", "break", "breakpoint", "step", "interrupt"] as const;

/** Why a thread stopped: an error, a call of `break`, a breakpoint, a step, or an interrupt. */
export type StopReason = (typeof STOP_REASONS)[number];

/** How to step: into the next call, over it, or out of the function that was stepped into. */
export const STEP_MODES = ["into", "over", "out"] as const;

const stopDetail = plist({
  /** For reason `step`: the source form of the next call. */
  form: optional(string),
  /** For reason `breakpoint`: the breakpoint's id. */
  breakpoint: optional(integer),
  /** For reason `breakpoint`: the number of this hit, counted from 1. */
  hits: optional(integer),
  /** For reason `interrupt`: the mode of the step that was interrupted. `continue` goes on with it. */
  step: optional(keywordOf(STEP_MODES)),
  /** For reason `interrupt`: what the thread waited for, and where, if Lisp knows: `sleeping, in frame 3: (PAUSE 10)`. */
  waiting: optional(string),
  /** For reason `interrupt`: the cycle of waiting threads that its wait leads to, e.g. `DEADLOCK: 7 waits for ...`. */
  deadlock: optional(string),
});

/** Details of a stop that depend on its reason. */
export interface StopDetail extends Decoded<typeof stopDetail> {}

const reportFields = plist({
  /** The image's unique number for the stop; `undefined` if only Swank reported it. */
  number: withDefault(integer, undefined),
  /** The name of the thread; absent if only Swank reported the stop. */
  threadName: optional(string),
  /** True if the client's code started the thread. */
  isOwn: from("own", withDefault(boolean, false)),
  reason: keywordOf(STOP_REASONS),
  detail: map(stopDetail, (detail): StopDetail => detail),
  /** Variables of the innermost frame of kind `user`. */
  locals: list(localBinding),
  /** Variables of the next frame of kind `user`, its caller. */
  callerLocals: optional(list(localBinding)),
});

/** A stopped thread's report of its stop. */
export interface StopReport extends Decoded<typeof reportFields> {
  /** The condition that stopped the thread, which need not be an error. */
  readonly condition: ErrorSnapshot;
}

/** Decodes the stop in a plist of lisp/debug/snapshot.lisp. */
export const stopReport: Decoder<StopReport> = (datum) => ({ ...reportFields(datum), condition: errorSnapshot(datum) });

/** Everything known about a stop: plain data that can be sent as JSON and stays valid after the stop ends. */
export interface StopData extends StopReport {
  /** Swank's id of the thread. */
  readonly thread: number;
  /** 1 for the first stop of the thread, one more for every stop inside a stop. */
  readonly level: number;
  /** The client whose debugger has the thread; absent if it is this client. */
  readonly owner?: StopOwner | undefined;
}

const redefinitionFields = {
  redefinedIn: from("redefinitions", withDefault(list<RedefinedIn>(redefinedIn), [])),
  redefinitionCount: withDefault(integer, 0),
  stale: withDefault(list<StaleUse>(staleUse), []),
  inside: withDefault(threadsInside, []),
};

/** Decodes the plist of TAKEN-REDEFINITIONS (lisp/evaluate/definitions.lisp). */
export const redefinitions: Decoder<Redefinitions> = map(
  plist(redefinitionFields),
  ({ redefinedIn: files, redefinitionCount: count, stale, inside }) => ({ count, files, stale, inside }),
);

const updateFields = plist({
  warnings: withDefault(list<LispWarning>(lispWarning), []),
  warningsInFiles: from("warning-counts", withDefault(list<WarningCount>(warningCount), [])),
  warningsOmitted: withDefault(integer, 0),
  ...redefinitionFields,
  /** Only if the evaluation logs conditions. */
  conditions: withDefault(signalledConditions, undefined),
  /** The session's package; `undefined` for threads that run no evaluation of this client. */
  package: withDefault(nullable(string), undefined),
});

/** An update of the session, sent with the report of a stop or with the end of an evaluation. */
export interface SessionUpdate
  extends Omit<Decoded<typeof updateFields>, "redefinedIn" | "redefinitionCount" | "stale" | "inside"> {
  readonly redefinitions: Redefinitions;
}

/** Decodes the session update in a plist of lisp/debug/snapshot.lisp. */
export const sessionUpdate: Decoder<SessionUpdate> = map(
  updateFields,
  ({ redefinedIn: files, redefinitionCount: count, stale, inside, ...rest }) => ({
    ...rest,
    redefinitions: { count, files, stale, inside },
  }),
);

const STALE = keyword("stale");

/** `(:stale)`: the thread is no longer at the stop that was asked. */
export function isStale(reply: Reply): boolean {
  return reply.status === "ok" && isList(reply.value) && reply.value[0] === STALE;
}

/** Makes a report from Swank's own message: less detailed than the runtime's, but available without the runtime. */
export function reportOf({ condition: { type, message }, restarts, frames }: DebugMessage): StopReport {
  return {
    number: undefined,
    isOwn: false,
    reason: "error",
    detail: {},
    condition: {
      type,
      class: type,
      supertypes: [],
      message,
      slots: [],
      restarts: restarts.map(({ name, description }, index) => ({ index, name, description })),
      frames: frames.map(({ index, call }) => ({ index, call, kind: "user" })),
      totalFrames: frames.length,
      timestamp: Date.now(),
    },
    locals: [],
  };
}

/** Milliseconds that a stopped thread has to describe its stop. */
const REPORT_TIME = 10_000;

/** Describes a stop of this client (lisp/debug/snapshot.lisp). The reply consumes the session's update: each warning is sent once. */
export const describeStop = lispFunction({
  name: "stop",
  ability: "restarts",
  where: "stopped-thread",
  module: "evaluate",
  decode: (datum: Sexp) => ({ report: stopReport(datum), update: sessionUpdate(datum) }),
  timeout: REPORT_TIME,
  label: () => "describing a stop",
});

/** Milliseconds that a thread has to identify its stop, for example while thousands of threads start. */
const IDENTITY_TIME = 30_000;

/** What a thread can always report of its stop, even if it cannot describe it (lisp/evaluate/control.lisp). */
export const stopIdentity = lispFunction({
  name: "stop-identity",
  ability: "restarts",
  where: "stopped-thread",
  module: "evaluate",
  decode: plist({ number: integer, threadName: string, isOwn: from("own", boolean) }),
  timeout: IDENTITY_TIME,
  label: () => "identifying a stop",
});

/**
 * Kinds of clients. `repl`: a client with a REPL for a person, usually Emacs. `swank-client`: a program that uses this library, such as
 * another swank-mcp. `other`: any other client. `gone`: a client whose connection is closed.
 */
const OWNER_KINDS = ["repl", "swank-client", "other", "gone"] as const;

const WORDS: Readonly<Record<(typeof OWNER_KINDS)[number], string>> = {
  repl: "Emacs",
  "swank-client": "another swank-mcp or swank-client",
  other: "another Swank client",
  gone: "a disconnected client",
};

const ownerFields = plist({
  kind: keywordOf(OWNER_KINDS),
  /** Number of the connection, from 1; unique while the client is connected. */
  connection: integer,
  /** The name of the agent that the client serves, as the image's record of agents has it. */
  agent: optional(string),
});

/** The other client whose debugger has a stopped thread. */
export interface StopOwner extends Decoded<typeof ownerFields> {
  /** The owner in words, e.g. `Emacs (Swank connection 1)`. */
  readonly text: string;
}

/** Decodes a plist of lisp/debug/frame-calls.lisp. */
export const stopOwner: Decoder<StopOwner> = map(ownerFields, (owner) => ({
  ...owner,
  text: `${ownerWords(owner)} (Swank connection ${owner.connection})`,
}));

/** A name may have any characters: quoted, it cannot be taken for words of this library. */
function ownerWords({ kind, agent }: Decoded<typeof ownerFields>): string {
  return agent === undefined ? WORDS[kind] : `agent ${JSON.stringify(agent)}`;
}

/** The stream that a piece of output was written to. */
export type OutputStream = "stdout" | "stderr";

/** A place in `stdout` or `stderr` at which output is missing, because there is more than the limits allow. */
export interface OmittedOutput {
  readonly stream: OutputStream;
  /** Position in the text, in UTF-16 code units. */
  readonly at: number;
  /** The number of missing characters, as Lisp counts them. */
  readonly count: number;
}

/** A piece of output. */
export interface OutputChunk {
  readonly stream: OutputStream;
  readonly text: string;
  /** Characters of the stream that are missing before this piece, because of `outputLimit`; absent if there are none. */
  readonly omittedBefore?: number;
}
