import { isForeign } from "../agent/foreign.js";
import type { Restart } from "../image/lisp-port.js";
import type { AddressedStop } from "./stop-address.js";
import type { ReadOnlyStop, StopRequest } from "./stop-plan.js";

/** The description of the CONTINUE restart that (break) itself provides, in any package and case. */
const BREAK_CONTINUES = /^Return from \S*\bBREAK\.$/i;

/** The descriptions of the ABORT restarts of an evaluation and of SBCL's threads. */
const ABORTS = /^(?:Return to top level|abort thread \()/i;

/** The text that a call gives the code to read, as the user is shown it: the code may evaluate it. */
export function inputShown(stdin: string | undefined): readonly (readonly [string, string])[] {
  return stdin === undefined ? [] : [["Input", stdin]];
}

/** The request to leave a stop through one of its restarts. */
export function restartRequest(
  { index, name, description }: Restart,
  values: readonly string[],
  stop: ReadOnlyStop,
  stdin?: string,
): StopRequest {
  const label = name === "" ? "(unnamed)" : name;
  return {
    operation: ":modify-restarts",
    action: `invoke restart ${index + 1}`,
    particulars: [
      [label, description],
      ...values.map((value, at) => [`Value ${at + 1}`, value] as const),
      ...inputShown(stdin),
    ],
    circumstances: [`Thread ${stop.thread}/${stop.level}, stopped by ${stop.condition.type}`],
  };
}

/** Whether a restart ends the whole evaluation or thread: the outermost ABORT, which is not the program's own. */
export function isAbort({ index, name, description }: Restart, { restarts }: ReadOnlyStop): boolean {
  return (
    name === "ABORT" &&
    ABORTS.test(description) &&
    restarts.every((other) => other.name !== name || other.index <= index)
  );
}

/**
 * The restart that resuming a stop invokes, if that does more than resume. At an error, CONTINUE does what the program defines. At a
 * break, breakpoint, step or interrupt it only resumes; the result is then `undefined`.
 */
export function restartToContinue({ reason, continuation }: ReadOnlyStop): Restart | undefined {
  if (continuation === undefined) return undefined;
  const isPlain = reason === "break" ? BREAK_CONTINUES.test(continuation.description) : reason !== "error";
  return isPlain ? undefined : continuation;
}

/** The request for resuming a stop; `undefined` if no approval is needed: the stop is this session's, and CONTINUE only resumes it. */
export function continueRequest({ stop, session }: AddressedStop): StopRequest | undefined {
  const restart = restartToContinue(stop);
  if (restart !== undefined) return restartRequest(restart, [], stop);
  return isForeign(stop, session) ? continuing(stop) : undefined;
}

function continuing({ thread, level, condition }: ReadOnlyStop): StopRequest {
  return {
    operation: ":modify-running-code",
    action: "continue a stopped thread",
    particulars: [[condition.type, condition.message]],
    circumstances: [`Thread ${thread}/${level}`],
  };
}

/** The call in a frame. Asks the image if the stop's report does not include the frame. */
export async function callOf(frame: number, stop: ReadOnlyStop): Promise<string> {
  const reported = stop.condition.frames.find(({ index }) => index === frame);
  if (reported !== undefined) return reported.call;
  const { frames } = await stop.frames(frame, frame + 1);
  return frames.find(({ index }) => index === frame)?.call ?? String(frame);
}
