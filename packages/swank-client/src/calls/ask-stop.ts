import { type Decoder, decode, NIL, quote, type Sexp, T } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

const { any, map, string, tagged, tuple } = decode;

/** Why another client's thread gave no value. */
export type AskRefusal =
  /** The form made the thread leave the stop. */
  | { readonly kind: "left" }
  /** The stop had ended before the form ran. */
  | { readonly kind: "stale" }
  /** The thread did not start the form in time, and never will. */
  | { readonly kind: "silent" }
  /** The form took too long and was interrupted. */
  | { readonly kind: "interrupted" }
  | { readonly kind: "failed"; readonly type: string; readonly message: string };

/** The outcome of a form that another client's thread was asked to evaluate. */
export type AskReply = { readonly kind: "value"; readonly value: Sexp } | AskRefusal;

const askReply: Decoder<AskReply> = tagged({
  value: map(tuple(any), ([value]): AskReply => ({ kind: "value", value })),
  left: map(tuple(), (): AskReply => ({ kind: "left" })),
  stale: map(tuple(), (): AskReply => ({ kind: "stale" })),
  silent: map(tuple(), (): AskReply => ({ kind: "silent" })),
  interrupted: map(tuple(), (): AskReply => ({ kind: "interrupted" })),
  failed: map(tuple(string, string), ([type, message]): AskReply => ({ kind: "failed", type, message })),
});

/**
 * Evaluates a form in a thread that is stopped in another client's debugger (lisp/debugger/foreign-stops.lisp).
 *
 * The form may make the thread leave the stop only if `mayLeave` is true.
 */
export const askStop = lispFunction({
  name: "ask-stop",
  module: "debugger",
  encode: (number: number, mayLeave: boolean, milliseconds: number, form: Sexp, _label: string) => [
    number,
    mayLeave ? T : NIL,
    Number.isFinite(milliseconds) ? Math.ceil(milliseconds / 1000) : NIL,
    quote(form),
  ],
  decode: askReply,
  label: (_number, _mayLeave, _milliseconds, _form, label) => label,
});
