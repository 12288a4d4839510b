import { type Decoder, decode } from "sexp-parser";
import { keywordOf, nameOf } from "../lisp/decoders.js";

const { boolean, integer, list, map, nullable, optional, plist, string, tuple, tupleRest } = decode;

/** `COMPILER-WARNING` is a compiler note. */
export const WARNING_TYPES = ["WARNING", "STYLE-WARNING", "COMPILER-WARNING"] as const;

/** A warning or compiler note signalled while code was read, compiled or run. */
export interface LispWarning {
  readonly type: (typeof WARNING_TYPES)[number];
  /** The exact condition class, package-qualified. */
  readonly class: string;
  readonly message: string;
  /** The file whose code caused it, relative to the image's directory; absent for the evaluation's own forms. */
  readonly file?: string | undefined;
  /** The definition that was being compiled in that file, e.g. `(DEFUN AREA)`. */
  readonly definition?: string | undefined;
}

/** The number of warnings of one type about the code of one file. */
export interface WarningCount {
  /** Relative to the image's directory. */
  readonly file: string;
  readonly type: LispWarning["type"];
  readonly count: number;
}

/** `user`: code being debugged. `system`: SBCL's own frames above it. `toplevel`: the evaluator, Swank and the runtime below it. */
export const FRAME_KINDS = ["user", "system", "toplevel"] as const;

/** One entry of a backtrace. */
export interface FrameSummary {
  /** Swank's frame number, 0 is the innermost. */
  readonly index: number;
  /** The call as Lisp prints it, on one line, e.g. `(FACT 3)`. */
  readonly call: string;
  readonly kind: (typeof FRAME_KINDS)[number];
  /** The line that the frame has reached, if it is known: only of the first frames of kind `user` in a report. */
  readonly place?: Place | undefined;
}

/** A line in a file. */
export interface Place {
  /** Relative to the image's directory, or the file's last folder and name. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

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

/** A variable of a frame, or a slot of a condition, with its value as Lisp prints it. */
export interface Binding {
  readonly name: string;
  readonly value: string;
}

/** Facts about a variable of a frame. */
export const VARIABLE_MARKS = ["argument", "shadowed", "unavailable"] as const;

/** `shadowed`: a binding further in has the same name. `unavailable`: the compiler has dropped the value. */
export type VariableMark = (typeof VARIABLE_MARKS)[number];

/** A variable of a frame. */
export interface LocalBinding extends Binding {
  readonly marks: readonly VariableMark[];
}

/** Everything known about a condition that stopped or ended an evaluation: plain data that outlives the thread. */
export interface ErrorSnapshot {
  /** The type to show: the most specific standard superclass for SBCL's own classes, otherwise the class itself. */
  readonly type: string;
  /** Exact class, package-qualified, e.g. `SB-INT:SIMPLE-READER-ERROR`. */
  readonly class: string;
  /** Class precedence list without `T` and slot-object, most specific first. */
  readonly supertypes: readonly string[];
  readonly message: string;
  readonly slots: readonly Binding[];
  readonly restarts: readonly Restart[];
  /** The innermost frames, at most 200. */
  readonly frames: readonly FrameSummary[];
  readonly totalFrames: number;
  /** The package from which symbols are printed, if that is not the one in which this client works. */
  readonly printedFrom?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** A method that a call of a generic function runs. */
export interface EffectiveMethod {
  /** As code names it, with packages: `(METHOD SHAPES:AREA :AROUND (SHAPES:CIRCLE))`. */
  readonly name: string;
  /** True if it runs only if the method before it calls `call-next-method`. */
  readonly isNext: boolean;
}

/** `((NAME NEXT) ...)` (lisp/stops/effective-methods.lisp) */
export const effectiveMethods: Decoder<readonly EffectiveMethod[]> = list(
  map(tuple(string, boolean), ([name, isNext]) => ({ name, isNext })),
);

/** `(NAME VALUE)`, both as Lisp prints them. */
export const binding: Decoder<Binding> = map(tuple(string, string), ([name, value]) => ({ name, value }));

/** `(MARK ...)` */
export const variableMarks: Decoder<readonly VariableMark[]> = list(keywordOf(VARIABLE_MARKS));

/** `(NAME VALUE MARK ...)` */
export const localBinding: Decoder<LocalBinding> = map(
  tupleRest([string, string], variableMarks),
  ([name, value, marks]) => ({ name, value, marks }),
);

/** `:user`, `:system` or `:toplevel`. */
export const frameKind = keywordOf(FRAME_KINDS);

/** `(INDEX CALL KIND [FILE LINE])` */
export const frameSummary: Decoder<FrameSummary> = map(
  tuple(integer, string, frameKind, optional(string), optional(integer)),
  ([index, call, kind, file, line]) => ({
    index,
    call,
    kind,
    ...(file === undefined || line === undefined ? {} : { place: { file, line } }),
  }),
);

const warningType = nameOf(WARNING_TYPES, string);

/** `((TYPE CLASS MESSAGE [FILE DEFINITION]) ...)` */
export const warnings: Decoder<readonly LispWarning[]> = list(
  map(
    tuple(warningType, string, string, optional(string), optional(nullable(string))),
    ([type, cls, message, file, definition]) => ({
      type,
      class: cls,
      message,
      ...(file === undefined ? {} : { file, definition: definition ?? undefined }),
    }),
  ),
);

/** `((FILE TYPE COUNT) ...)` */
export const warningCounts: Decoder<readonly WarningCount[]> = list(
  map(tuple(string, warningType, integer), ([file, type, count]) => ({ file, type, count })),
);

/** `((NAME DESCRIPTION [MIN MAX]) ...)`, innermost first (lisp/stops/restarts.lisp) */
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

/** Definitions that the forms of an evaluation, or one file, replaced. */
export interface RedefinedIn {
  /** The file that was loaded, relative to the image's directory; `undefined` for the evaluation's own forms. */
  readonly file: string | undefined;
  readonly count: number;
  /** The first 50 different names, e.g. `AVERAGE` or `(METHOD PROCESS :AROUND (STAGE))`. */
  readonly names: readonly string[];
}

/** A redefined macro or inline function, and the functions that were compiled with the old definition and still exist. */
export interface StaleUse {
  readonly name: string;
  readonly count: number;
  /** The first 50, in alphabetical order. */
  readonly users: readonly string[];
}

/** Conditions that an evaluation signalled, and that differ only in their messages. */
export interface SignalledCondition {
  /** The class, with its package unless that is COMMON-LISP. */
  readonly type: string;
  /** The report of the first one; `undefined` if it can no longer be printed. */
  readonly message: string | undefined;
  /** The function that signalled it, `top level` for the evaluated forms; `undefined` if it is not known. */
  readonly place: string | undefined;
  /** The program's function that called `place`, if that is one of Lisp's. */
  readonly caller: string | undefined;
  /** The type in the clause that took it, if it is known. */
  readonly clause: string | undefined;
  /** The function with that clause; `undefined` if no handler took the condition. */
  readonly handler: string | undefined;
  readonly count: number;
}

/** The conditions that an evaluation and the threads that it started signalled. */
export interface SignalledConditions {
  /** The first 40 different ones, in the order in which they were first signalled. */
  readonly entries: readonly SignalledCondition[];
  /** The number of conditions that are not counted in `entries`. */
  readonly others: number;
  /** The number of conditions that Lisp's own functions handled. */
  readonly internal: number;
}

/** What an evaluation redefined. */
export interface Redefinitions {
  /** All redefinitions, including those that `files` does not count: it has the first 2,000. */
  readonly count: number;
  readonly files: readonly RedefinedIn[];
  readonly stale: readonly StaleUse[];
}

/** Of an evaluation that redefined nothing. */
export const NO_REDEFINITIONS: Redefinitions = { count: 0, files: [], stale: [] };

const redefinedIn: Decoder<RedefinedIn> = map(
  tuple(nullable(string), integer, list(string)),
  ([file, count, names]) => ({ file, count, names }),
);

const staleUse: Decoder<StaleUse> = map(tuple(string, integer, list(string)), ([name, count, users]) => ({
  name,
  count,
  users,
}));

/** Decodes the keys of lisp/evaluate/redefinitions.lisp in the plist of an outcome. */
export const redefinitions: Decoder<Redefinitions> = map(
  plist({
    redefinitions: optional(list(redefinedIn)),
    redefinitionCount: optional(integer),
    stale: optional(list(staleUse)),
  }),
  ({ redefinitions: files = [], redefinitionCount: count = 0, stale = [] }) => ({ count, files, stale }),
);

/** Redefinitions of one evaluation after others of it. */
export function addRedefinitions(before: Redefinitions, after: Redefinitions): Redefinitions {
  return {
    count: before.count + after.count,
    files: [...before.files, ...after.files],
    stale: [...before.stale, ...after.stale],
  };
}

const signalledCondition: Decoder<SignalledCondition> = plist({
  type: string,
  message: nullable(string),
  place: nullable(string),
  caller: nullable(string),
  clause: nullable(string),
  handler: nullable(string),
  count: integer,
});

/** Decodes a plist of lisp/evaluate/condition-log.lisp. */
export const signalledConditions: Decoder<SignalledConditions> = plist({
  entries: list(signalledCondition),
  others: integer,
  internal: integer,
});

/** Conditions of one evaluation after others of it. */
export function addConditions(
  before: SignalledConditions | undefined,
  after: SignalledConditions | undefined,
): SignalledConditions | undefined {
  if (before === undefined || after === undefined) return before ?? after;
  return {
    entries: [...before.entries, ...after.entries],
    others: before.others + after.others,
    internal: before.internal + after.internal,
  };
}
