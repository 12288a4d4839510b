import { type Decoder, decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import {
  type EffectiveMethod,
  effectiveMethods,
  type FrameSummary,
  frameKind,
  type LocalBinding,
  variableMarks,
} from "./condition.js";
import type { CutValue } from "./evaluate.js";
import type { OmittedOutput } from "./omitted-output.js";
import { noFrame } from "./stop-refusals.js";

/** Where code came from: a place in a file on the image's machine, or the form itself when it was evaluated. */
export type Source =
  | {
      readonly file: string;
      /** From 1; `undefined` if the file can no longer be read there. */
      readonly line: number | undefined;
      /** From 1, in characters. */
      readonly column: number | undefined;
    }
  /** The form as Lisp prints it; `#:***HERE***` marks the call in progress. */
  | { readonly form: string };

/** A variable of a frame. Its value is printed within limits, on one line. */
export interface Variable extends LocalBinding {
  /** `(swank-objects:ref N)` returns the object in evaluated code while the thread is at this stop; `undefined` if it is unavailable. */
  readonly objectId: number | undefined;
}

/** One frame of a stopped thread. */
export interface Frame extends FrameSummary {
  /** The function's name with its package, e.g. `MY-APP:COMPUTE`. */
  readonly function: string;
  /** True if `restartFrame` can call the frame's function again. */
  readonly restartable: boolean;
  readonly source: Source | undefined;
  /** The methods that the call of a generic function runs, in order; empty if they are unknown, or listed at a frame further in. */
  readonly methods: readonly EffectiveMethod[];
  /** The first 100. */
  readonly locals: readonly Variable[];
  /** Number of all variables. */
  readonly totalLocals: number;
}

/** A range of a thread's frames. */
export interface FramePage {
  readonly frames: readonly Frame[];
  /** Number of all frames of the thread. */
  readonly totalFrames: number;
  /** The image's current directory, ending in `/`. */
  readonly directory: string;
  /** The package from which symbols are printed, if that is not the one in which this client works. */
  readonly printedFrom?: string | undefined;
}

/** Variables and catch tags of one frame. */
export interface FrameLocals {
  /** The first 100. */
  readonly locals: readonly Variable[];
  /** Number of all variables. */
  readonly totalLocals: number;
  readonly catchTags: readonly string[];
  /**
   * True if an interrupt stopped one of SBCL's own functions at an arbitrary instruction. Its variable slots may not hold objects there, so
   * neither the variables nor the arguments in `call` are read.
   */
  readonly unread: boolean;
}

/** Values and output of an evaluation in a frame. */
export interface FrameValue {
  /** The first 50, each printed within limits. */
  readonly values: readonly string[];
  /** Those of `values` that do not show everything. */
  readonly cutValues: readonly CutValue[];
  /** Number of all values. */
  readonly valueCount: number;
  /** What the code printed to each stream: the first 20,000 characters. */
  readonly stdout: string;
  readonly stderr: string;
  /** The number of the other characters of each stream; empty if there are none. */
  readonly outputOmitted: readonly OmittedOutput[];
  /** The package in which the code was read and the values were printed. */
  readonly package: string;
  /**
   * The names of the frame's variables to which the code gave another value. The program sees it only where the compiler has not derived
   * constants or types from the old value. Arguments of a call that a breakpoint stopped before it began are not among them: it gets the new ones.
   */
  readonly set: readonly string[];
}

const { boolean, integer, list, map, nullable, plist, string, tagged, tuple, tupleRest } = decode;

/** `(NAME VALUE NUMBER MARK ...)` */
export const variable: Decoder<Variable> = map(
  tupleRest([string, string, nullable(integer)], variableMarks),
  ([name, value, objectId, marks]) => ({ name, value, objectId, marks }),
);

const source: Decoder<Source> = tagged({
  file: map(tuple(string, nullable(integer), nullable(integer)), ([file, line, column]) => ({ file, line, column })),
  form: map(tuple(string), ([form]) => ({ form })),
});

/** Frames that are read unless the caller says how many. */
export const FRAMES_OF_PAGE = 20;

/** Decodes a plist of lisp/debugger/frames.lisp. */
const frame: Decoder<Frame> = plist({
  index: integer,
  function: string,
  call: string,
  kind: frameKind,
  restartable: boolean,
  source: nullable(source),
  methods: effectiveMethods,
  locals: list(variable),
  totalLocals: integer,
});

/** `(:frames (PLIST ...) TOTAL DIRECTORY PACKAGE)` */
const framePage: Decoder<FramePage> = tagged({
  frames: map(
    tuple(list(frame), integer, string, nullable(string)),
    ([frames, totalFrames, directory, printedFrom]) => ({ frames, totalFrames, directory, printedFrom }),
  ),
});

/** Reads the frames of a stop from `start` to `end` (exclusive), with their variables (lisp/debugger/frames.lisp). */
export const frames = lispFunction({
  name: "frames",
  where: "stopped-thread",
  module: "debugger",
  encode: (level: number, start: number, end: number) => [level, start, end],
  decode: framePage,
  refusals: { "no-frame": (_level: number, start: number) => noFrame(start) },
});
