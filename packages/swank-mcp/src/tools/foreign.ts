import type { ApprovalRequest } from "../approval-request.js";
import type { DebuggedStop } from "../lisp-port.js";
import type { LispSession } from "../lisp-session.js";

/**
 * Whether a stopped thread is somebody else's: it runs no evaluation of this session, and it was not this session's breakpoint that stopped
 * it. In an image of our own there is nobody else.
 */
export function isForeign({ evaluation, reason, owner }: DebuggedStop, { origin }: LispSession): boolean {
  if (owner !== undefined) return true;
  return origin.kind === "attached" && evaluation === undefined && reason !== "breakpoint" && reason !== "step";
}

/** Whose the stop is that something is to be done to, as far as that is not this session. */
export function ownership(stop: DebuggedStop, session: LispSession): Pick<ApprovalRequest, "isForeign" | "owner"> {
  return { isForeign: isForeign(stop, session), owner: stop.owner?.text };
}
