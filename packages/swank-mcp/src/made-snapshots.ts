import { REACTION_TIME } from "./follow-evaluation.js";
import type { ErrorSnapshot } from "./lisp-port.js";

/** Fields of an error that no condition in Lisp stands behind. */
const WITHOUT_LISP = { class: "", supertypes: [], slots: [], restarts: [], frames: [], totalFrames: 0 } as const;

/** The type of all whose time was up, whether or not a condition of Lisp's came of it. */
const TIMEOUT = "TIMEOUT";

/** The snapshot of an evaluation that was stopped because its time was up: Lisp itself only knows that it was interrupted. */
export function timeoutSnapshot(stop: ErrorSnapshot, seconds: number | undefined): ErrorSnapshot {
  if (seconds === undefined) return stop;
  return {
    ...stop,
    type: TIMEOUT,
    message: `${noValue(seconds)} It was interrupted where it was, and waits there: it does not go on by itself.`,
  };
}

/** An evaluation that ignored the interrupt and was ended. */
export function killedSnapshot(seconds: number, now: number): ErrorSnapshot {
  const message = `${noValue(seconds)} It did not react to an interrupt within ${reaction()}, so it was aborted.`;
  return { ...WITHOUT_LISP, type: TIMEOUT, message, timestamp: now };
}

/** An evaluation that nothing could end; `seconds` is the time that was up, if it was that; `remedy` is for an image that hangs. */
export function stillRunningSnapshot(
  seconds: number | undefined,
  thread: number | undefined,
  now: number,
  remedy?: string,
): ErrorSnapshot {
  const where = thread === undefined ? "" : ` in thread ${thread}`;
  const first = seconds === undefined ? "The evaluation was to be interrupted." : noValue(seconds);
  const whole = remedy === undefined ? "" : ` The image answers nothing else either. ${remedy}`;
  const message = `${first} It reacted neither to an interrupt nor to an abort and is STILL RUNNING${where}.${whole}`;
  return { ...WITHOUT_LISP, type: TIMEOUT, message, timestamp: now };
}

/** An evaluation whose connection or image went away. */
export function lossSnapshot(cause: string, now: number): ErrorSnapshot {
  const message = `${cause}\nIt is not known how far the evaluation got.`;
  return { ...WITHOUT_LISP, type: "IMAGE-LOST", message, timestamp: now };
}

function noValue(seconds: number): string {
  return `The evaluation gave no value within ${seconds} s.`;
}

function reaction(): string {
  return `${REACTION_TIME / 1000} s`;
}
