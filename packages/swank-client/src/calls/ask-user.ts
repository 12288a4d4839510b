import { type Decoder, decode, list, NIL, quote, type Sexp } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";

/** An action that a user of the image may allow or refuse in Emacs. */
export interface UserQuestion {
  /** A verb phrase, e.g. `evaluate code in frame #2`. */
  readonly action: string;
  /** The details, e.g. `Code` and the code. */
  readonly particulars: readonly (readonly [label: string, text: string])[];
  /** Where the action would happen, in lines. */
  readonly circumstances: readonly string[];
  /** The stop that the action is about: the user can allow the action for all of it, and the question ends with it. */
  readonly stop?: { readonly thread: number; readonly level: number } | undefined;
  /** Seconds that the user has. */
  readonly seconds: number;
}

const ANSWERS = ["yes", "no", "stop"] as const;

/**
 * A user's answer; `stop` is a yes for the whole stop. `stop-gone`: the stop ended first. `unanswered`: the time was up. `nobody`: no Emacs that asks questions is connected, or
 * none is left.
 */
export type UserAnswer = (typeof ANSWERS)[number] | "stop-gone" | "unanswered" | "nobody";

const { map, tagged, tuple } = decode;

const userAnswer: Decoder<UserAnswer> = tagged({
  answered: map(tuple(keywordOf(ANSWERS)), ([answer]): UserAnswer => answer),
  "stop-gone": map(tuple(), (): UserAnswer => "stop-gone"),
  unanswered: map(tuple(), (): UserAnswer => "unanswered"),
  nobody: map(tuple(), (): UserAnswer => "nobody"),
});

function listOf(items: readonly Sexp[]): Sexp {
  return items.length === 0 ? NIL : list(...items);
}

/** Whether `askUser` would ask in an Emacs. */
export const userReachable = lispFunction({
  name: "user-reachable-p",
  module: "activity",
  encode: () => [],
  decode: decode.boolean,
  label: () => "looking for an Emacs that asks",
});

/** Asks the user in each Emacs that has swank-mcp.el (lisp/activity/questions.lisp). The first answer counts. */
export const askUser = lispFunction({
  name: "ask-user",
  module: "activity",
  encode: ({ action, particulars, circumstances, stop, seconds }: UserQuestion) => [
    action,
    quote(listOf(particulars.map(([label, text]) => list(label, text)))),
    quote(listOf(circumstances)),
    stop === undefined ? NIL : quote(list(stop.thread, stop.level)),
    seconds,
  ],
  decode: userAnswer,
  label: () => "asking the user in Emacs",
});
