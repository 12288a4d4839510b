import { checkNumber } from "../base/check-arguments.js";

/** Code that profiles or traces. It is evaluated as any other code, so that it can stop, print and be interrupted. */
export interface RunCode<Result> {
  /** Evaluate this with `valuesAs: "data"` and, so that the code is compiled as in the user's own programs, `policy: "keep"`. */
  readonly code: string;
  /**
   * The result in the printed first value.
   *
   * @throws SwankError `WATCH_REFUSED`; DecodeError, ReadError if that is not a value of `code`.
   */
  result(value: string): Result;
  /**
   * What the latest evaluation of `code` has found, if that has stopped or was aborted: a stop ends the profile or trace.
   *
   * @returns `undefined` if there is none, if it still runs, or if there were many others since.
   * @throws the errors of `LispRunner.run`.
   */
  progress(options?: { readonly signal?: AbortSignal | undefined }): Promise<Result | undefined>;
}

/** Most seconds for which the whole program is watched. */
const MOST_SECONDS = 3600;

/**
 * The time to watch the whole program, in milliseconds.
 *
 * @throws SwankError `INVALID_ARGUMENT`
 */
export function millisecondsOf(seconds: number): number {
  const isSound = typeof seconds === "number" && seconds > 0 && seconds <= MOST_SECONDS;
  checkNumber("seconds", seconds, `a number of seconds, at most ${MOST_SECONDS}`, isSound);
  return Math.ceil(seconds * 1000);
}

/** The number of code that was made last. Each run is asked for with its own number. */
let lastKey = 0;

/** A number for new code. */
export function newKey(): number {
  lastKey += 1;
  return lastKey;
}
