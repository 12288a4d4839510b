import { decode, NIL, T } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/** Milliseconds that the image has to note something. */
const NOTE_TIME = 5000;

/** A call of an agent that its server refused, so that no request shows it. */
export interface RefusedCall {
  /** The tool's name. */
  readonly tool: string;
  /** The code or the arguments that the agent sent. */
  readonly code: string;
  /** The package in which the code would have been read. Default: none. */
  readonly package?: string | undefined;
  /** Why the call was refused. */
  readonly reason: string;
}

/** Records a question to the agent's user. Gives its number, `undefined` for a client without a name (lisp/activity/notes.lisp). */
export const noteQuestion = lispFunction({
  name: "note-question",
  module: "activity",
  encode: (text: string) => [text],
  decode: decode.nullable(decode.integer),
  timeout: NOTE_TIME,
  label: () => "recording a question",
});

/** Records the answer to a question: whether it was yes, and who gave it, and how. */
export const noteAnswer = lispFunction({
  name: "note-answer",
  module: "activity",
  encode: (question: number, isAllowed: boolean, text: string) => [question, isAllowed ? T : NIL, text],
  decode: decode.any,
  timeout: NOTE_TIME,
  label: () => "recording an answer",
});

/** Records a call that the agent's server refused. */
export const noteRefusal = lispFunction({
  name: "note-refusal",
  module: "activity",
  encode: ({ tool, code, package: packageName, reason }: RefusedCall) => [tool, code, packageName ?? NIL, reason],
  decode: decode.any,
  timeout: NOTE_TIME,
  label: () => "recording a refused call",
});
