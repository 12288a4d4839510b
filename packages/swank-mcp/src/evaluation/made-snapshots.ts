import type { ErrorSnapshot, StopData } from "../image/lisp-port.js";
import { REACTION_TIME } from "./follow-evaluation.js";

/** Fields of an error that no Lisp condition caused. */
const WITHOUT_LISP = { class: "", supertypes: [], slots: [], restarts: [], frames: [], totalFrames: 0 } as const;

/** Why an evaluation may react to nothing in an image that answers. */
const DEAF =
  "Code does not react inside sb-sys:without-interrupts or sb-sys:without-gcing, and may not react in a call of foreign code.";

/** The beginning of a frame of a method that prints, and the class for which it prints. */
const PRINTING_METHOD = /^\(\((?:SB-PCL::)?(?:FAST-)?:?METHOD PRINT-OBJECT \(([^ ()]+) /;

/** Error type of every evaluation whose time was up, whether or not Lisp signalled a condition. */
const TIMEOUT = "TIMEOUT";

/**
 * The error of an evaluation that was interrupted because its time was up. Lisp itself knows only of the interrupt.
 *
 * @param detail - What the thread waited for, and the deadlock that it is in, come first.
 */
export function timeoutSnapshot(
  stop: ErrorSnapshot,
  seconds: number | undefined,
  { waiting, deadlock }: Pick<StopData["detail"], "waiting" | "deadlock"> = {},
): ErrorSnapshot {
  const cycle = deadlock === undefined ? "" : `${deadlock}\n`;
  const printing = printingOf(stop);
  const wait = waiting === undefined ? "" : `The thread was ${waiting}\n${cycle}`;
  if (seconds === undefined) return { ...stop, message: wait + stop.message };
  return {
    ...stop,
    type: TIMEOUT,
    message: `${wait}${noValue(seconds)} It was interrupted and is paused in the debugger; it does not resume automatically.${printing}`,
  };
}

/** That a printing method was interrupted, and what to do about it; `""` if the stack shows none. */
function printingOf({ frames }: ErrorSnapshot): string {
  const method = frames.map(({ call }) => PRINTING_METHOD.exec(call)).find((found) => found !== null);
  if (method === undefined || method === null) return "";
  return ` It was printing an object: PRINT-OBJECT for ${method[1]} has not returned. Correct that method, or evaluate code that returns only parts of the object.`;
}

/** The error of an evaluation that ignored the interrupt and was aborted. */
export function killedSnapshot(seconds: number, now: number): ErrorSnapshot {
  const message = `${noValue(seconds)} It did not react to an interrupt within ${reaction()}, so it was aborted.`;
  return { ...WITHOUT_LISP, type: TIMEOUT, message, timestamp: now };
}

/**
 * The error of an evaluation that ignored both the interrupt and the abort.
 *
 * @param seconds - The time that was up; `undefined` when the user interrupted the evaluation.
 * @param hang - What is known about the image and what to do about it, if it hangs.
 * @param way - What to do if it does not hang.
 */
export function stillRunningSnapshot(
  seconds: number | undefined,
  thread: number | undefined,
  now: number,
  hang?: string,
  way?: string,
): ErrorSnapshot {
  const where = thread === undefined ? "" : ` in thread ${thread}`;
  const first = seconds === undefined ? "The user interrupted the evaluation." : noValue(seconds);
  const told = hang ?? [DEAF, ...(way === undefined ? [] : [way])].join(" ");
  const message = `${first} It reacted neither to an interrupt nor to an abort and is STILL RUNNING${where}. ${told}`;
  return { ...WITHOUT_LISP, type: TIMEOUT, message, timestamp: now };
}

/**
 * The error of an evaluation whose connection or image was lost.
 *
 * @param next - What the next call does, a sentence.
 */
export function lossSnapshot(cause: string, next: string | undefined, now: number): ErrorSnapshot {
  const told = ["It is not known how far the evaluation got.", ...(next === undefined ? [] : [next])];
  const message = `${cause}\n${told.join(" ")}`;
  return { ...WITHOUT_LISP, type: "IMAGE-LOST", message, timestamp: now };
}

function noValue(seconds: number): string {
  return `The evaluation gave no value within ${seconds} s.`;
}

function reaction(): string {
  return `${REACTION_TIME / 1000} s`;
}
