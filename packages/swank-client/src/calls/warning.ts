import { type Decoder, decode } from "sexp-parser";
import { nameOf } from "../lisp/decoders.js";

const { integer, list, map, nullable, optional, string, tuple } = decode;

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
