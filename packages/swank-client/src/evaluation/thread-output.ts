import { decode } from "sexp-parser";
import { decodedIfKnown, forms, lispFunction } from "../runtime/function.js";
import type { WriteStringMessage } from "../wire/messages.js";
import type { OutputStream } from "./report.js";

const { integer, map, nullable, optional, string, tagged, tuple } = decode;

/** What a thread has printed that this client's code started. */
export interface ThreadOutput {
  /** The thread, by Swank's id. */
  readonly thread: number;
  readonly threadName: string;
  /** The id of the evaluation that started it, if that is known. */
  readonly evaluation: number | undefined;
  readonly stream: OutputStream;
  readonly text: string;
  /** Characters of the stream that are missing before the text. */
  readonly omittedBefore: number;
}

/** `(:printed EVALUATION STREAM-NUMBER THREAD NAME [OMITTED])`, the target of a message of lisp/evaluate/thread-output.lisp. */
const printed = tagged({
  printed: map(
    tuple(nullable(integer), integer, integer, string, optional(integer)),
    ([evaluation, number, thread, threadName, omittedBefore = 0]): Omit<ThreadOutput, "text"> => ({
      thread,
      threadName,
      evaluation,
      stream: number === 2 ? "stderr" : "stdout",
      omittedBefore,
    }),
  ),
});

/** Reads the output of a thread from a message; `undefined` for a message about something else. */
export function readThreadOutput({ target, text }: WriteStringMessage): ThreadOutput | undefined {
  const from = decodedIfKnown(printed, target);
  return from && { ...from, text };
}

/** Milliseconds that the image has to send what it keeps. */
const RENEWAL_TIME = 5000;

/** Lets an evaluation, or all threads, send as much output again as their limit (lisp/evaluate/thread-output.lisp). */
export const renewOutputs = lispFunction({
  name: "renew-outputs",
  module: "evaluate",
  encode: (evaluation: number | undefined) => forms(evaluation),
  decode: () => undefined,
  timeout: RENEWAL_TIME,
  label: () => "asking for more output",
});
