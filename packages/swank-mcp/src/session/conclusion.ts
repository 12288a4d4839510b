import type { types } from "swank-client";
import type { ApartOutput } from "./apart-output.js";
import type { Outcome, Stopped } from "./lisp-port.js";

export const REACTION_TIME = 3000;

const WITHOUT_LISP = { class: "", supertypes: [], slots: [], restarts: [], frames: [], totalFrames: 0 } as const;

/** Why an evaluation may react to nothing in an image that answers. */
const DEAF =
  "Code does not react inside sb-sys:without-interrupts or sb-sys:without-gcing, and may not react in a call of foreign code.";

/** The beginning of a frame of a method that prints, and the class for which it prints. */
const PRINTING_METHOD = /^\(\((?:SB-PCL::)?(?:FAST-)?:?METHOD PRINT-OBJECT \(([^ ()]+) /;

/** Error type of every evaluation whose time was up, whether or not Lisp signalled a condition. */
const TIMEOUT = "TIMEOUT";

const AFTER_RELEASE = "Wait until that thread has released the lock";

/** What a thread waited for when it was interrupted, a line; `""` if that is not known. Lisp knows only what the program's own calls wait for. */
function waitLine(waiting: string | undefined, lock: string | undefined): string {
  if (waiting !== undefined) return `The thread was ${waiting}\n`;
  return lock === undefined
    ? ""
    : `The thread was waiting for ${lock}. ${AFTER_RELEASE}, then let this one continue.\n`;
}

/** The error of an evaluation that was interrupted because its time was up, with what its thread waited for first. Lisp itself knows only of the interrupt. */
function timeoutSnapshot(
  stop: types.ErrorSnapshot,
  seconds: number | undefined,
  { waiting, deadlock }: Pick<types.StopData["detail"], "waiting" | "deadlock">,
  lock: string | undefined,
): types.ErrorSnapshot {
  const cycle = deadlock === undefined ? "" : `${deadlock}\n`;
  const printing = printingOf(stop);
  const wait = waitLine(waiting, lock) + cycle;
  if (seconds === undefined) return { ...stop, message: wait + stop.message };
  return {
    ...stop,
    type: TIMEOUT,
    message: `${wait}${noValue(seconds)} It was interrupted and is paused in the debugger; it does not resume automatically.${printing}`,
  };
}

/** That a printing method was interrupted, and what to do about it; `""` if the stack shows none. */
function printingOf({ frames }: types.ErrorSnapshot): string {
  const method = frames.map(({ call }) => PRINTING_METHOD.exec(call)).find((found) => found !== null);
  if (method === undefined || method === null) return "";
  return ` It was printing an object: PRINT-OBJECT for ${method[1]} has not returned. Correct that method, or evaluate code that returns only parts of the object.`;
}

/** The error of an evaluation that could not stop at the interrupt and was aborted. A stop may need the lock that it waits for. */
function killedSnapshot(seconds: number, lock: string | undefined, now: number): types.ErrorSnapshot {
  const end =
    lock === undefined
      ? `It did not react to an interrupt within ${REACTION_TIME / 1000} s, so it was aborted.`
      : `It was waiting for ${lock}, and could not stop there, so it was aborted. ${AFTER_RELEASE}, then call again.`;
  const message = `${noValue(seconds)} ${end}`;
  return { ...WITHOUT_LISP, type: TIMEOUT, message, timestamp: now };
}

/** The error of an evaluation that ignored both the interrupt and the abort. `hang` and `way` are as in {@link Circumstances}. */
function stillRunningSnapshot(
  { timeout, thread, lock }: Extract<Answerable, { kind: "running" }>,
  now: number,
  hang?: string,
  way?: string,
): types.ErrorSnapshot {
  const where = thread === undefined ? "" : ` in thread ${thread}`;
  const first = timeout === undefined ? "The user interrupted the evaluation." : noValue(timeout / 1000);
  const cause = lock === undefined ? DEAF : `It waits for ${lock}. ${AFTER_RELEASE}.`;
  const told = hang ?? [cause, ...(way === undefined ? [] : [way])].join(" ");
  const message = `${first} It reacted neither to an interrupt nor to an abort and is STILL RUNNING${where}. ${told}`;
  return { ...WITHOUT_LISP, type: TIMEOUT, message, timestamp: now };
}

/** The error of an evaluation whose connection or image was lost. @param next - What the next call does, a sentence. */
function lossSnapshot(cause: string, next: string | undefined, now: number): types.ErrorSnapshot {
  const told = ["It is not known how far the evaluation got.", ...(next === undefined ? [] : [next])];
  const message = `${cause}\n${told.join(" ")}`;
  return { ...WITHOUT_LISP, type: "IMAGE-LOST", message, timestamp: now };
}

function noValue(seconds: number): string {
  return `The evaluation gave no value within ${seconds} s.`;
}

/** The transcript, with a line at each place of its output at which text is missing. */
export function markedOutput(transcript: types.Transcript): types.Transcript {
  const { stdout, stderr, outputOmitted } = transcript;
  if (outputOmitted.length === 0) return transcript;
  const marked = (stream: types.OutputStream, text: string) =>
    withMarks(
      text,
      outputOmitted.filter((omitted) => omitted.stream === stream),
    );
  return { ...transcript, stdout: marked("stdout", stdout), stderr: marked("stderr", stderr), outputOmitted: [] };
}

function withMarks(text: string, gaps: readonly types.OmittedOutput[]): string {
  const ends = [...gaps.map(({ at }) => at), text.length];
  const parts = gaps.map(({ at, count }, index) => {
    // A text that ends in its gap may end in a whole line.
    const isOnNewLine = at === text.length && text.endsWith("\n");
    return `${isOnNewLine ? "" : "\n"}[... ${count} characters left out ...]\n${text.slice(at, ends[index + 1])}`;
  });
  return text.slice(0, ends[0]) + parts.join("");
}

/** The tag in brackets before a condition's type in a report. */
type ConditionTag = "ERROR" | "BREAK" | "BREAKPOINT" | "STEP" | "TIMEOUT" | "INTERRUPT";

export interface ConditionEnding {
  readonly kind: "condition";
  readonly tag: ConditionTag;
  readonly error: types.ErrorSnapshot;
  readonly stop?: types.StopData;
  readonly thread?: number | undefined;
  /** The lock because of which the thread could not stop at the error. */
  readonly held?: string;
}

export interface ValuesEnding {
  readonly kind: "values";
  /** The printed values that Lisp sent; it sends only the first ones of many. */
  readonly values: readonly string[];
  /** Those that do not show everything. */
  readonly cutValues: readonly types.CutValue[];
  readonly count: number;
  /** The number of forms, and the numbers of those before the last with values worth showing. Absent for code in a frame. */
  readonly forms?: { readonly count: number; readonly unshown: readonly number[] };
  readonly idleBreakpoints?: readonly types.IdleBreakpoint[];
}

interface UnderwayEnding {
  readonly kind: "underway";
  readonly text: string;
}

export type Ending =
  | ValuesEnding
  | UnderwayEnding
  | { readonly kind: "aborted"; readonly byReset?: boolean }
  | ConditionEnding;

/** `running` means that neither an interrupt nor an abort ended the evaluation, or that it runs in the background. */
type Status = Outcome["status"] | "running";

/** How the end or stop of an evaluation changes the last error. */
export type LastErrorChange =
  | { readonly kind: "set"; readonly error: types.ErrorSnapshot }
  | { readonly kind: "clear" }
  | { readonly kind: "keep" };

/** What a call reports about its evaluation, and the change to the last error. */
export interface Conclusion {
  readonly status: Status;
  /** Its output has lines where text is missing. */
  readonly transcript: types.Transcript;
  /** What has been written apart from the evaluation since the previous answer of one. */
  readonly apart?: readonly ApartOutput[];
  readonly ending: Ending;
  readonly isError: boolean;
  readonly lastError: LastErrorChange;
}

type Returned = Extract<Outcome, { status: "returned" }>;

type Aborted = Extract<Outcome, { status: "aborted" }>;

const TAGS: Record<types.StopReason, ConditionTag> = {
  error: "ERROR",
  break: "BREAK",
  breakpoint: "BREAKPOINT",
  step: "STEP",
  interrupt: "INTERRUPT",
};

/** The transcript of an evaluation that printed nothing and gave no warnings. */
export const EMPTY_TRANSCRIPT: types.Transcript = {
  stdout: "",
  stderr: "",
  output: [],
  outputOmitted: [],
  warnings: [],
  warningsInFiles: [],
  warningsOmitted: 0,
  // The client's constant would load the client when the server starts.
  redefinitions: { count: 0, files: [], stale: [], inside: [] },
  package: "",
  milliseconds: undefined,
};

/** Results of a wait that have an answer; a cancelled call has none. */
export type Answerable = Exclude<types.Followed<Outcome>, { kind: "cancelled" }>;

/** Facts for a conclusion that are not in the outcome. */
interface Circumstances {
  /** Why the image is gone, in more detail than the outcome of a lost evaluation has. */
  readonly loss?: string | undefined;
  readonly next?: string | undefined;
  /** What is known about the image and what to do about it, if it answers no request. */
  readonly hang?: string | undefined;
  /** What to do about an evaluation that reacts to nothing, if the image answers. */
  readonly way?: string | undefined;
  /** True if the session was reset during the evaluation: its loss or abort was then intended. */
  readonly reset?: boolean;
  readonly now?: number;
}

/** Decides whether an outcome is an error, and whether it sets or clears the last error. No other code decides this. */
export function conclude(followed: Answerable, circumstances: Circumstances = {}): Conclusion {
  const { loss, next, hang, way, reset = false, now = Date.now() } = circumstances;
  if (followed.kind === "running") {
    const error = stillRunningSnapshot(followed, now, hang, way);
    return failed("running", followed.transcript, {
      kind: "condition",
      tag: "TIMEOUT",
      error,
      thread: followed.thread,
    });
  }
  const { outcome } = followed;
  const lock = followed.kind === "outcome" ? undefined : followed.lock;
  const seconds = followed.kind === "timed-out" ? followed.timeout / 1000 : undefined;
  switch (outcome.status) {
    case "returned":
      return returned(outcome);
    case "stopped":
      return stopped(outcome, seconds, lock);
    case "aborted":
      return aborted(outcome, { seconds, lock, byReset: reset, now });
    case "lost":
      if (reset) return succeeded(outcome, { kind: "aborted", byReset: true }, { kind: "keep" });
      return failed("lost", outcome, {
        kind: "condition",
        tag: "ERROR",
        error: lossSnapshot(loss ?? outcome.cause.message, next, now),
      });
  }
}

/** What is reported about an evaluation in the background that runs. `text` says what it does. */
export function concludeUnderway(transcript: types.Transcript, text: string): Conclusion {
  // How long it has run is in the text.
  const output = { ...markedOutput(transcript), milliseconds: undefined };
  return {
    status: "running",
    transcript: output,
    ending: { kind: "underway", text },
    isError: false,
    lastError: { kind: "keep" },
  };
}

/** The conclusion of code that was evaluated in a frame. The evaluation whose frame it is stays stopped. */
export function concludeInFrame({ values, cutValues, valueCount, ...printed }: types.FrameValue): Conclusion {
  const transcript = markedOutput({ ...EMPTY_TRANSCRIPT, ...printed });
  const ending = { kind: "values", values, cutValues, count: valueCount } as const;
  return { status: "returned", transcript, ending, isError: false, lastError: { kind: "keep" } };
}

function returned(outcome: Returned): Conclusion {
  const { values, cutValues, valueCount: count, formCount, unshownForms: unshown, idleBreakpoints = [] } = outcome;
  const forms = { count: formCount, unshown };
  const ending = { kind: "values", values, cutValues, count, forms, idleBreakpoints } as const;
  return succeeded(outcome, ending, { kind: "clear" });
}

function stopped(outcome: Stopped, seconds: number | undefined, lock: string | undefined): Conclusion {
  const stop = outcome.stop.data;
  const { reason, condition, detail } = stop;
  const error = reason === "interrupt" ? timeoutSnapshot(condition, seconds, detail, lock) : condition;
  const tag = reason === "interrupt" && seconds !== undefined ? "TIMEOUT" : TAGS[reason];
  const ending = { kind: "condition", tag, error, stop } as const;
  return reason === "error" || reason === "interrupt"
    ? failed("stopped", outcome, ending)
    : succeeded(outcome, ending, { kind: "keep" });
}

interface Abort {
  readonly seconds: number | undefined;
  readonly lock: string | undefined;
  readonly byReset: boolean;
  readonly now: number;
}

function aborted(outcome: Aborted, { seconds, lock, byReset, now }: Abort): Conclusion {
  const { error, held } = outcome;
  if (error !== undefined)
    return failed("aborted", outcome, {
      kind: "condition",
      tag: "ERROR",
      error,
      ...(held === undefined ? {} : { held }),
    });
  if (byReset) return succeeded(outcome, { kind: "aborted", byReset }, { kind: "keep" });
  if (seconds === undefined) return succeeded(outcome, { kind: "aborted" }, { kind: "keep" });
  return failed("aborted", outcome, { kind: "condition", tag: "TIMEOUT", error: killedSnapshot(seconds, lock, now) });
}

function succeeded(outcome: Outcome, ending: Ending, lastError: LastErrorChange): Conclusion {
  return { status: outcome.status, transcript: markedOutput(outcome), ending, isError: false, lastError };
}

function failed(status: Status, transcript: types.Transcript, ending: ConditionEnding): Conclusion {
  return {
    status,
    transcript: markedOutput(transcript),
    ending,
    isError: true,
    lastError: { kind: "set", error: ending.error },
  };
}
