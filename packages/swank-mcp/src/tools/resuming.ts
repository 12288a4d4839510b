import type { ApprovalRequest } from "../approval-request.js";
import { inDebugger } from "../debugger-refusals.js";
import type { DebuggedStop, Restart } from "../lisp-port.js";

/** What Lisp's own restart of (break) says, whatever package and case it is printed in. */
const BREAK_CONTINUES = /^Return from \S*\bBREAK\.$/i;

/** The wish to leave a stop through one of its restarts. */
export function restartRequest(
  { index, name, description }: Restart,
  values: readonly string[],
  stop: DebuggedStop,
): ApprovalRequest {
  const label = name === "" ? "(unnamed)" : name;
  return {
    operation: ":modify-restarts",
    wish: `invoke restart ${index + 1}`,
    particulars: [[label, description], ...values.map((value, at) => [`Value ${at + 1}`, value] as const)],
    circumstances: [`Thread ${stop.thread}/${stop.level}, stopped by ${stop.condition.type}`],
    stop,
  };
}

/**
 * The restart that going on from a stop invokes where that is more than going on: at an error, CONTINUE does what the program says it
 * does. At a break, a breakpoint, a step or an interrupt it does nothing else.
 */
export function restartToContinue({ reason, continuation }: DebuggedStop): Restart | undefined {
  if (continuation === undefined) return undefined;
  const isPlain = reason === "break" ? BREAK_CONTINUES.test(continuation.description) : reason !== "error";
  return isPlain ? undefined : continuation;
}

/** The call in a frame; that of one which the stop's report leaves out is asked for. */
export async function callOf(frame: number, stop: DebuggedStop): Promise<string> {
  const reported = stop.condition.frames.find(({ index }) => index === frame);
  if (reported !== undefined) return reported.call;
  const { frames } = await inDebugger(() => stop.frames(frame, frame + 1));
  return frames.find(({ index }) => index === frame)?.call ?? String(frame);
}
