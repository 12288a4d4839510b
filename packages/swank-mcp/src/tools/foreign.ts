import type { DebuggedStop } from "../lisp-port.js";
import type { LispSession } from "../lisp-session.js";

/**
 * Whether a stopped thread is somebody else's: it runs no evaluation of this session, and it was not this session's breakpoint that stopped
 * it. In an image of our own there is nobody else.
 */
export function isForeign({ evaluation, reason }: DebuggedStop, { origin }: LispSession): boolean {
  return origin.kind === "attached" && evaluation === undefined && reason !== "breakpoint" && reason !== "step";
}
