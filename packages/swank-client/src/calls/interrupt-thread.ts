import { type Decoder, decode, keyword } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction, type Refusals } from "../lisp/descriptor.js";

/** How to end the work of a thread: unwind it to where its request or code began, or end the thread. */
export const THREAD_ENDINGS = ["abort", "kill"] as const;

/**
 * What became of a thread. `running`: it was unwound but still runs, for example its cleanup forms or its next request. `silent`: it did not
 * react, because it allows no interrupts or holds locks of Lisp.
 */
export const THREAD_FATES = ["ended", "running", "silent"] as const;

/** Milliseconds that the image has for it: it waits up to 10 s for a safe moment, and 2 s for cleanup forms. */
const ENDING_TIME = 20_000;
const STOPPING_TIME = 10_000;

const { map, tagged, tuple } = decode;

/** Why a thread is left alone. */
const REASONS: Readonly<Record<string, readonly [code: "NO_SUCH_THREAD" | "INVALID_ARGUMENT", what: string]>> = {
  gone: ["NO_SUCH_THREAD", "does not exist"],
  service: ["INVALID_ARGUMENT", "serves clients or belongs to Lisp, and is not interrupted"],
  main: ["INVALID_ARGUMENT", "is the main thread: its end would end the image"],
  stopped: ["INVALID_ARGUMENT", "is stopped in a debugger already"],
};

function refusalsOf<Args extends readonly [id: number, ...rest: unknown[]]>(): Refusals<Args> {
  const entries = Object.entries(REASONS).map(([key, [code, what]]) => [
    key,
    (...[id]: Args): Decoder<SwankError> => map(tuple(), () => new SwankError(code, `Thread ${id} ${what}.`)),
  ]);
  return Object.fromEntries(entries);
}

/** Stops a thread in the debugger, soon (lisp/program/interrupt-thread.lisp). */
export const stopThread = lispFunction({
  name: "stop-thread",
  module: "program",
  encode: (id: number) => [id],
  decode: tagged({ stopping: map(tuple(), () => undefined) }),
  refusals: refusalsOf<[id: number]>(),
  timeout: STOPPING_TIME,
  label: () => "stopping a thread",
});

/** Unwinds or ends a thread when that is safe (lisp/program/interrupt-thread.lisp). */
export const endProgramThread = lispFunction({
  name: "end-thread-by",
  module: "program",
  encode: (id: number, how: (typeof THREAD_ENDINGS)[number]) => [id, keyword(how)],
  decode: tagged({ done: map(tuple(keywordOf(THREAD_FATES)), ([fate]) => fate) }),
  refusals: refusalsOf<[id: number, how: (typeof THREAD_ENDINGS)[number]]>(),
  timeout: ENDING_TIME,
  label: () => "ending a thread",
});
