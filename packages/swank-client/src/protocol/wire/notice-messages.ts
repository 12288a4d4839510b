import type { Sexp } from "sexp-parser";

/** The REPL changed its package. */
export interface NewPackageMessage {
  readonly type: "new-package";
  readonly name: string;
  readonly prompt: string;
}

/** `*features*` changed. */
export interface NewFeaturesMessage {
  readonly type: "new-features";
  /** Names, upper case, without colons. */
  readonly features: readonly string[];
}

/** How a macro's calls are indented. */
export interface IndentationRule {
  readonly name: string;
  /** A number of arguments, a list of rules, or NIL when the rule was withdrawn. */
  readonly indentation: Sexp;
  /** The packages in which the name means this macro. */
  readonly packages: readonly string[];
}

/** Indentation rules that are new or changed. */
export interface IndentationUpdateMessage {
  readonly type: "indentation-update";
  readonly rules: readonly IndentationRule[];
}

/** Text for a status line. */
export interface BackgroundMessage {
  readonly type: "background-message";
  readonly text: string;
}

/** What an `ed` message asks to show. */
export type EdTarget =
  | { readonly kind: "nothing" }
  | {
      readonly kind: "file";
      readonly path: string;
      readonly line: number | undefined;
      readonly column: number | undefined;
      readonly position: number | undefined;
    }
  | { readonly kind: "function"; readonly name: string };

/** `(ed ...)` was called. */
export interface EdMessage {
  readonly type: "ed";
  readonly target: EdTarget;
}

/** Swank's own tests ask for a pause. */
export interface TestDelayMessage {
  readonly type: "test-delay";
  readonly seconds: number;
}

/** Internal to Emacs, kept for completeness. */
export interface EmacsSkippedPacketMessage {
  readonly type: "emacs-skipped-packet";
  readonly packet: Sexp;
}

/** A message with a name that is not known here; newer Swanks may send some. */
export interface UnknownMessage {
  readonly type: "unknown";
  /** Lower case, without colon. */
  readonly name: string;
  readonly datum: Sexp;
}

/** A message with a known name and a shape that is not. */
export interface MalformedMessage {
  readonly type: "malformed";
  /** Lower case, without colon. */
  readonly name: string;
  /** Where it differs from what was expected. */
  readonly problem: string;
  readonly datum: Sexp;
  /** The request that it answers, if it is a reply. */
  readonly id: number | undefined;
}

/** A message that cannot be read as Lisp data although it was framed properly and begins as one. */
export interface UnreadableMessage {
  readonly type: "unreadable";
  readonly text: string;
  readonly problem: string;
  /** The request that it answers, if its end names one. */
  readonly id: number | undefined;
}

/** The messages that need no answer. */
export type NoticeMessage =
  | NewPackageMessage
  | NewFeaturesMessage
  | IndentationUpdateMessage
  | BackgroundMessage
  | EdMessage
  | TestDelayMessage
  | EmacsSkippedPacketMessage;

/** What becomes of messages that do not fit. */
export type OddMessage = UnknownMessage | MalformedMessage | UnreadableMessage;
