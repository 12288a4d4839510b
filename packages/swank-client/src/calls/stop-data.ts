import { type DecodedFields, type Decoder, decode, isList, keyword } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";
import type { DebugMessage, Reply } from "../protocol/wire/messages.js";
import {
  binding,
  type ErrorSnapshot,
  frameSummary,
  type LocalBinding,
  localBinding,
  restartList,
} from "./condition.js";
import { type Redefinitions, redefinedIn, staleUse } from "./redefinition.js";
import { type SignalledConditions, signalledConditions } from "./signalled-condition.js";
import type { StopOwner } from "./stop-owner.js";
import { type LispWarning, type WarningCount, warningCounts, warnings } from "./warning.js";

const { boolean, integer, list, map, nullable, optional, plist, string } = decode;

export const STOP_REASONS = ["error", "break", "breakpoint", "step", "interrupt"] as const;

/** Why a thread stopped: an error, a call of `break`, a breakpoint, a step, or an interrupt. */
export type StopReason = (typeof STOP_REASONS)[number];

/** Details of a stop that depend on its reason. */
export interface StopDetail {
  /** For reason `step`: the source form of the next call. */
  readonly form?: string | undefined;
  /** For reason `breakpoint`: the breakpoint's id. */
  readonly breakpoint?: number | undefined;
  /** For reason `breakpoint`: the number of this hit, counted from 1. */
  readonly hits?: number | undefined;
  /** For reason `interrupt`: what the thread waited for, and where, if Lisp knows: `sleeping, in frame 3: (PAUSE 10)`. */
  readonly waiting?: string | undefined;
  /** For reason `interrupt`: the cycle of waiting threads that its wait leads to, e.g. `DEADLOCK: 7 waits for ...`. */
  readonly deadlock?: string | undefined;
}

/** A stopped thread's report of its stop. */
export interface StopReport {
  /** The image's unique number for the stop; `undefined` if only Swank reported it. */
  readonly number: number | undefined;
  /** The name of the thread; absent if only Swank reported the stop. */
  readonly threadName?: string | undefined;
  /** True if the client's code started the thread. */
  readonly isOwn: boolean;
  readonly reason: StopReason;
  readonly detail: StopDetail;
  /** The condition that stopped the thread, which need not be an error. */
  readonly condition: ErrorSnapshot;
  /** Variables of the innermost frame of kind `user`. */
  readonly locals: readonly LocalBinding[];
  /** Variables of the next frame of kind `user`, its caller. */
  readonly callerLocals?: readonly LocalBinding[] | undefined;
}

/** Everything known about a stop: plain data that can be sent as JSON and stays valid after the stop ends. */
export interface StopData extends StopReport {
  /** Swank's id of the thread. */
  readonly thread: number;
  /** 1 for the first stop of the thread, one more for every stop inside a stop. */
  readonly level: number;
  /** The client whose debugger has the thread; absent if it is this client. */
  readonly owner?: StopOwner | undefined;
}

/** An update of the session, sent with the report of a stop or with the end of an evaluation. */
export interface SessionUpdate {
  readonly warnings: readonly LispWarning[];
  readonly warningsInFiles: readonly WarningCount[];
  readonly warningsOmitted: number;
  readonly redefinitions: Redefinitions;
  /** Only if the evaluation logs conditions. */
  readonly conditions: SignalledConditions | undefined;
  /** The session's package; `undefined` for threads that run no evaluation of this client. */
  readonly package: string | undefined;
}

const reportFields = {
  number: optional(integer),
  threadName: optional(string),
  own: optional(boolean),
  reason: keywordOf(STOP_REASONS),
  detail: plist({
    form: optional(string),
    breakpoint: optional(integer),
    hits: optional(integer),
    waiting: optional(string),
    deadlock: optional(string),
  }),
  locals: list(localBinding),
  callerLocals: optional(list(localBinding)),
};

const conditionFields = {
  type: string,
  class: string,
  supertypes: list(string),
  message: string,
  slots: list(binding),
  restarts: restartList,
  frames: list(frameSummary),
  total: integer,
  printedFrom: optional(nullable(string)),
};

/** Decodes the condition in a plist of lisp/stops/snapshot.lisp. */
export const errorSnapshot: Decoder<ErrorSnapshot> = map(plist(conditionFields), snapshotOf);

function snapshotOf(fields: DecodedFields<typeof conditionFields>): ErrorSnapshot {
  const { type, supertypes, message, slots, restarts, frames, total, printedFrom } = fields;
  const snapshot = {
    type,
    class: fields.class,
    supertypes,
    message,
    slots,
    restarts,
    frames,
    totalFrames: total,
    timestamp: Date.now(),
  };
  return printedFrom === undefined ? snapshot : { ...snapshot, printedFrom };
}

/** Decodes the stop in a plist of lisp/stops/snapshot.lisp. */
export const stopReport: Decoder<StopReport> = map(plist({ ...reportFields, ...conditionFields }), reportIn);

function reportIn(fields: DecodedFields<typeof reportFields & typeof conditionFields>): StopReport {
  const { number, threadName, own = false, reason, detail, locals, callerLocals } = fields;
  return { number, threadName, reason, detail, locals, callerLocals, isOwn: own, condition: snapshotOf(fields) };
}

const updateFields = {
  warnings: optional(warnings),
  warningCounts: optional(warningCounts),
  warningsOmitted: optional(integer),
  redefinitions: optional(list(redefinedIn)),
  redefinitionCount: optional(integer),
  stale: optional(list(staleUse)),
  conditions: optional(signalledConditions),
  package: optional(nullable(string)),
};

/** Decodes the session update in a plist of lisp/stops/snapshot.lisp. */
export const sessionUpdate: Decoder<SessionUpdate> = map(plist(updateFields), updateIn);

function updateIn(update: DecodedFields<typeof updateFields>): SessionUpdate {
  const { warnings: some = [], warningCounts: inFiles = [], warningsOmitted = 0 } = update;
  const { redefinitions: files = [], redefinitionCount: count = 0, stale = [] } = update;
  return {
    warnings: some,
    warningsInFiles: inFiles,
    warningsOmitted,
    redefinitions: { count, files, stale },
    conditions: update.conditions,
    package: update.package,
  };
}

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

/** A stopped thread's report of its stop, with the update of its session. */
export interface DescribedStop {
  readonly report: StopReport;
  readonly update: SessionUpdate;
}

/** Describes a stop of this client (lisp/stops/snapshot.lisp). The reply consumes the session's update: each warning is sent once. */
export const describeStop = lispFunction({
  name: "stop",
  where: "stopped-thread",
  module: "evaluate",
  // One decoder for both, because each looks at all keys.
  decode: map(
    plist({ ...reportFields, ...conditionFields, ...updateFields }),
    (fields): DescribedStop => ({ report: reportIn(fields), update: updateIn(fields) }),
  ),
  timeout: REPORT_TIME,
  label: () => "describing a stop",
});

/** Milliseconds that a thread has to identify its stop, for example while thousands of threads start. */
const IDENTITY_TIME = 30_000;

/** What a thread can always report of its stop, even if it cannot describe it (lisp/evaluate/control.lisp). */
export const stopIdentity = lispFunction({
  name: "stop-identity",
  where: "stopped-thread",
  module: "evaluate",
  decode: map(plist({ number: integer, threadName: string, own: boolean }), ({ own, ...rest }) => ({
    ...rest,
    isOwn: own,
  })),
  timeout: IDENTITY_TIME,
  label: () => "identifying a stop",
});
