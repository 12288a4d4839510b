import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";

const { boolean, integer, list, map, nullable, optional, string, tuple, tupleRest } = decode;

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
  /** The same file with all its folders. */
  readonly path: string;
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
