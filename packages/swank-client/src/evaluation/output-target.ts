import { DecodeError, decode, type Sexp } from "sexp-parser";
import type { OutputStream } from "./transcript.js";

/** Which evaluation's which stream some text was written to, and how much was left out before it. */
export interface OutputTarget {
  readonly id: number;
  /** `exit`: no text, but the news that the image is ending. */
  readonly stream: OutputStream | "exit";
  readonly omittedBefore: number;
}

/** By number, as in lisp/evaluate.lisp. */
const STREAMS = ["exit", "stdout", "stderr"] as const;

const { integer, optional, tuple } = decode;

const target = tuple(integer, integer, optional(integer));

/** Reads a target of the runtime's, `(ID STREAM-NUMBER [OMITTED])` (lisp/output.lisp); `undefined` for any other. */
export function outputTarget(datum: Sexp): OutputTarget | undefined {
  if (!Array.isArray(datum)) return undefined;
  try {
    const [id, number, omittedBefore = 0] = target(datum);
    const stream = STREAMS[number];
    return stream && { id, stream, omittedBefore };
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
