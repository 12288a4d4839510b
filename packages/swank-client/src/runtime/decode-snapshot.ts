import { type Decoder, decode, type Sexp } from "sexp-parser";
import type {
  Binding,
  ErrorSnapshot,
  FrameSummary,
  LispWarning,
  Restart,
  StopDetail,
  StopReason,
} from "../evaluation/outcome.js";
import { keywordOf, nameOf } from "./keyword-of.js";

/** What the runtime tells of a condition. */
export interface StopReport {
  /** Tells the stop from others of the same thread and level; absent where nothing is stopped any more, or Swank alone tells. */
  readonly number: number | undefined;
  /** True for a thread that the client's code started. */
  readonly isOwn: boolean;
  readonly reason: StopReason;
  readonly detail: StopDetail;
  readonly error: ErrorSnapshot;
  readonly locals: readonly Binding[];
  readonly warnings: readonly LispWarning[];
  readonly warningsOmitted: number;
  /** The session's package; absent for threads that evaluate nothing of this client. */
  readonly package: string | undefined;
}

const { boolean, integer, list, map, nullable, optional, plist, string, tuple } = decode;

const STOP_REASONS: readonly StopReason[] = ["error", "break", "breakpoint", "step", "interrupt"];
const FRAME_KINDS: readonly FrameSummary["kind"][] = ["user", "machinery", "host"];
const WARNING_TYPES: readonly LispWarning["type"][] = ["WARNING", "STYLE-WARNING", "COMPILER-WARNING"];

const binding: Decoder<Binding> = map(tuple(string, string), ([name, value]) => ({ name, value }));

/** `:user`, `:machinery` or `:host`. */
export const frameKind = keywordOf(FRAME_KINDS);

const frame: Decoder<FrameSummary> = map(tuple(integer, string, frameKind), ([index, call, kind]) => ({
  index,
  call,
  kind,
}));

/** `((TYPE CLASS MESSAGE) ...)` */
export const warnings: Decoder<readonly LispWarning[]> = list(
  map(tuple(nameOf(WARNING_TYPES, string), string, string), ([type, cls, message]) => ({ type, class: cls, message })),
);

/** `((NAME DESCRIPTION) ...)`, innermost first. */
export const restartList: Decoder<readonly Restart[]> = map(list(tuple(string, string)), (entries) =>
  entries.map(([name, description], index) => ({ index, name, description })),
);

const detail: Decoder<StopDetail> = plist({ form: optional(string), breakpoint: optional(integer) });

const fields = plist({
  number: optional(integer),
  own: optional(boolean),
  reason: keywordOf(STOP_REASONS),
  detail,
  type: string,
  class: string,
  supertypes: list(string),
  message: string,
  slots: list(binding),
  restarts: restartList,
  frames: list(frame),
  total: integer,
  locals: list(binding),
  warnings: optional(warnings),
  warningsOmitted: optional(integer),
  package: optional(nullable(string)),
});

/** The reply of the runtime's `stop`, and what `:failed` carries (lisp/snapshot.lisp). */
export function stopReport(datum: Sexp): StopReport {
  const {
    reason,
    detail: stopDetail,
    type,
    class: cls,
    supertypes,
    message,
    slots,
    restarts: offered,
    frames,
    total,
    ...rest
  } = fields(datum);
  return {
    number: rest.number,
    isOwn: rest.own ?? false,
    reason,
    detail: stopDetail,
    error: {
      type,
      class: cls,
      supertypes,
      message,
      slots,
      restarts: offered,
      frames,
      totalFrames: total,
      timestamp: Date.now(),
    },
    locals: rest.locals,
    warnings: rest.warnings ?? [],
    warningsOmitted: rest.warningsOmitted ?? 0,
    package: rest.package ?? undefined,
  };
}
