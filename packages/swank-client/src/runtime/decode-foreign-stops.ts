import { type Decoder, decode, type Sexp } from "sexp-parser";
import type { ForeignStopReport } from "../debugger/foreign-stop.js";
import { type StopOwner, stopOwner } from "../debugger/stop-owner.js";
import { restartList } from "./decode-snapshot.js";
import { keywordOf } from "./keyword-of.js";

const { any, integer, list, map, nullable, plist, string, tagged, tuple } = decode;

const OWNER_KINDS: readonly StopOwner["kind"][] = ["repl", "swank-client", "other", "gone"];

/** A plist of lisp/owners.lisp. */
export const owner: Decoder<StopOwner> = map(
  plist({ kind: keywordOf(OWNER_KINDS), connection: integer }),
  ({ kind, connection }) => stopOwner(kind, connection),
);

const report: Decoder<ForeignStopReport> = map(
  plist({
    number: integer,
    thread: integer,
    level: integer,
    name: string,
    type: string,
    class: string,
    message: string,
    restarts: restartList,
    owner,
  }),
  ({ number, thread, level, name, owner: whose, type, class: cls, message, restarts }) => ({
    number,
    thread,
    level,
    threadName: name,
    condition: { type, class: cls, message, restarts },
    owner: whose,
  }),
);

/** `(PLIST ...)` (lisp/foreign-stops.lisp). */
export const foreignStops: Decoder<readonly ForeignStopReport[]> = list(report);

/** Levels of threads in the debugger, NIL for those that never were in one. */
export const levels: Decoder<readonly number[]> = list(map(nullable(integer), (level) => level ?? 0));

/** Why a thread of another client's gave no answer. */
export type ForeignRefusal =
  /** It led out of the stop. */
  | { readonly kind: "left" }
  /** The stop had ended before. */
  | { readonly kind: "stale" }
  /** The thread did not take it up, and will not. */
  | { readonly kind: "silent" }
  /** It took too long, and was broken off. */
  | { readonly kind: "interrupted" }
  | { readonly kind: "failed"; readonly type: string; readonly message: string };

/** What came of a question to such a thread. */
export type ForeignReply = { readonly kind: "value"; readonly value: Sexp } | ForeignRefusal;

export const foreignReply: Decoder<ForeignReply> = tagged({
  value: map(tuple(any), ([value]): ForeignReply => ({ kind: "value", value })),
  left: map(tuple(), (): ForeignReply => ({ kind: "left" })),
  stale: map(tuple(), (): ForeignReply => ({ kind: "stale" })),
  silent: map(tuple(), (): ForeignReply => ({ kind: "silent" })),
  interrupted: map(tuple(), (): ForeignReply => ({ kind: "interrupted" })),
  failed: map(tuple(string, string), ([type, message]): ForeignReply => ({ kind: "failed", type, message })),
});
