import { Refusal } from "../base/refusals.js";
import { visibleLine } from "../text/visible.js";
import { type ApprovalRequest, actionText } from "./approval-prompt.js";
import type { DebuggedStop } from "./lisp-port.js";

/** What the user can do about a client in which no question appears. */
const IF_NOT_ASKED =
  "Nothing was done. If no question appeared, the client declares elicitation but does not show it: the user can start swank-mcp with --approval off, which never asks and leaves the decision to the client's own permissions.";

/** @param isUncertain - Whether the user may not have seen the question. */
export function denied(request: ApprovalRequest, why: string, isUncertain = false): Refusal {
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; ${why}.`, isUncertain ? { remedy: IF_NOT_ASKED } : {});
}

export function tooMany(request: ApprovalRequest): Refusal {
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; too many other questions wait for the user.`, {
    remedy: "Nothing was done. Call again after the user has answered the pending questions.",
  });
}

export function tooLong(request: ApprovalRequest): Refusal {
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; it is too long to show to the user.`, {
    remedy: "Nothing was done. Do it in several smaller steps, or define a function with evaluate-lisp and call that.",
  });
}

export function cancelled(): Refusal {
  return new Refusal("CANCELLED", "The call was cancelled; nothing was done.");
}

export function stale({ thread, level }: DebuggedStop): Refusal {
  return new Refusal("STALE_STOP", `The stop ${thread}/${level} ended before the user answered.`);
}

/** @param isStrict - Whether every change needs the user's yes. */
export function cannotAsk(request: ApprovalRequest, isStrict: boolean): Refusal {
  const why = isStrict ? "--approval strict" : "the thread belongs to another client or to the program";
  const enough = request.isForeign ? "off" : "ask";
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; ${why}, and this client cannot ask.`, {
    remedy: `Nothing was done. ${withoutAsking(request)}Ask the user to load swank-mcp.el in Emacs, which then asks, to use a client that supports elicitation, or to start swank-mcp with --approval ${enough}.`,
  });
}

/** @param name - The agent that has the thread. */
export function ownerNotAsked(request: ApprovalRequest, name: string): Refusal {
  const why = `the thread belongs to the agent ${visibleLine(name)}, whose client cannot be asked now`;
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; ${why}.`, {
    remedy: `Nothing was done. Only that agent's user, or the user of an Emacs that has loaded swank-mcp.el, can allow it. That agent can do it without asking; its client can be asked while it has a session with elicitation and an open stream.`,
  });
}

function notAllowed(request: ApprovalRequest): string {
  return `Not allowed: ${actionText(request)}`;
}

function withoutAsking({ instead, owner }: ApprovalRequest): string {
  if (instead !== undefined) return `${instead} Or: `;
  return owner === undefined ? "" : `Ask the user to do it in ${owner}. Or: `;
}
