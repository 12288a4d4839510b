import { type Decoder, decode } from "sexp-parser";
import { nameOf } from "../lisp/decoders.js";
import type { LocationPosition } from "./location.js";

const { integer, list, map, nullable, optional, string, tuple } = decode;

/** `ERROR`: the compiler cannot compile a form of a file, and puts an error in its place, or cannot read the file. `COMPILER-WARNING`: a note. */
export const WARNING_TYPES = ["ERROR", "WARNING", "STYLE-WARNING", "COMPILER-WARNING"] as const;

/** A warning or compiler note signalled while code was read, compiled or run. */
export interface LispWarning {
  readonly type: (typeof WARNING_TYPES)[number];
  /** The exact condition class, package-qualified. */
  readonly class: string;
  readonly message: string;
  /**
   * The form that it is about, or the top-level form if that is all Lisp knows: a path in `file` or, for the evaluation's own forms, in the
   * evaluated code. Absent if it is not known. `Sources.locate(warning)` finds its line and column.
   */
  readonly position?: Extract<LocationPosition, { kind: "path" }> | undefined;
  /** The file whose code caused it, as answers show it: relative to the image's directory, or its last folder and name. Absent for the evaluation's own forms. */
  readonly file?: string | undefined;
  /** The same file with all its folders. */
  readonly path?: string | undefined;
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

const warningType = nameOf(WARNING_TYPES, string);

/** `((TYPE CLASS MESSAGE FORM-PATH [SHOWN-FILE DEFINITION FILE]) ...)` (lisp/evaluate/warnings.lisp) */
export const warnings: Decoder<readonly LispWarning[]> = list(
  map(
    tuple(warningType, string, string, list(integer), optional(string), optional(nullable(string)), optional(string)),
    ([type, cls, message, form, file, definition, path]) => ({
      type,
      class: cls,
      message,
      ...(form.length === 0 ? {} : { position: { kind: "path" as const, path: form, offset: undefined } }),
      ...(file === undefined ? {} : { file, path, definition: definition ?? undefined }),
    }),
  ),
);

/** `((FILE TYPE COUNT) ...)` */
export const warningCounts: Decoder<readonly WarningCount[]> = list(
  map(tuple(string, warningType, integer), ([file, type, count]) => ({ file, type, count })),
);
