import type { ApprovalRequest } from "../approval-request.js";
import type { DebuggedStop } from "../lisp-port.js";
import type { LispSession } from "../lisp-session.js";

/** True of a thread that runs no code of this session, unless a breakpoint or a step of this session has stopped it. */
export function runsApart({
  evaluation,
  reason,
  isOwn,
}: Pick<DebuggedStop, "evaluation" | "reason" | "isOwn">): boolean {
  return evaluation === undefined && !isOwn && reason !== "breakpoint" && reason !== "step";
}

/** Whether a stopped thread is somebody else's. In an image of our own there is nobody else. */
export function isForeign(stop: DebuggedStop, { origin }: LispSession): boolean {
  return stop.owner !== undefined || (origin.kind === "attached" && runsApart(stop));
}

/** Whose the stop is that something is to be done to, as far as that is not this session. */
export function ownership(stop: DebuggedStop, session: LispSession): Pick<ApprovalRequest, "isForeign" | "owner"> {
  return { isForeign: isForeign(stop, session), owner: stop.owner?.text };
}
