import type { DebuggedStop } from "../image/lisp-port.js";
import type { LispSession } from "../image/lisp-session.js";
import type { ApprovalRequest } from "./approval-request.js";

/** Whether a thread runs no code of this session, and was not stopped by a breakpoint or step of this session. */
export function runsApart({ evaluation, data }: Pick<DebuggedStop, "evaluation" | "data">): boolean {
  const { isOwn, reason } = data;
  return evaluation === undefined && !isOwn && reason !== "breakpoint" && reason !== "step";
}

/** Whether a stopped thread belongs to another client or the program. In a launched image, only other clients count. */
export function isForeign(stop: DebuggedStop, { origin }: LispSession): boolean {
  return stop.owner !== undefined || (origin.kind === "attached" && runsApart(stop));
}

/** Ownership of a stop, for an approval request. */
export function ownership(stop: DebuggedStop, session: LispSession): Pick<ApprovalRequest, "isForeign" | "owner"> {
  return { isForeign: isForeign(stop, session), owner: stop.owner?.text };
}
