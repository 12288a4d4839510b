import {
  type ApprovalRequest,
  detailText,
  isShownWhole,
  type Operation,
  promptText,
  wholeWish,
} from "./approval-request.js";
import type { Ask, Question, Reply } from "./elicitation.js";
import type { DebuggedStop } from "./lisp-port.js";
import { Refusal } from "./refusal.js";

/** What `--approval` can be. */
export type ApprovalMode = "ask" | "strict" | "off";

/** How the person can be reached during one call. */
export interface Approver {
  /** Absent when the client has no way to ask. */
  readonly ask: Ask | undefined;
  /** Aborted when the call is cancelled or the client is gone. */
  readonly signal: AbortSignal;
  progress(text: string): void;
}

/** Seconds that a person has for each question. */
const ANSWER_SECONDS = 60;
/** How often the client is told that the person is being waited for, in milliseconds. */
const REMINDER = 5000;

const YES = "Yes";
const NO = "No";
const SHOW = "Show Code";
const YES_FOR_STOP = "Yes, for this stop";

/** Has a person allow what changes a running program. A seat belt, not a boundary: evaluate-lisp can do anything. */
export class Approvals {
  readonly #mode: ApprovalMode;
  /** What was allowed for a whole stop. */
  readonly #granted = new WeakMap<DebuggedStop, Set<Operation>>();

  constructor(mode: ApprovalMode) {
    this.#mode = mode;
  }

  /**
   * Returns when it is allowed.
   *
   * @throws Refusal `APPROVAL_DENIED`, `CANCELLED`
   */
  async require(request: ApprovalRequest, approver: Approver): Promise<void> {
    if (this.#mode === "off" || this.#isGranted(request)) return;
    if (approver.ask !== undefined) return this.#ask(request, approver.ask, approver);
    if (this.#mode === "strict" || request.isForeign) throw cannotAsk(request, this.#mode);
  }

  /** What was allowed for a stop is allowed for the one that a step led to as well. */
  carry(from: DebuggedStop, to: DebuggedStop): void {
    const granted = this.#granted.get(from);
    if (granted !== undefined) this.#granted.set(to, granted);
  }

  async #ask(request: ApprovalRequest, ask: Ask, approver: Approver): Promise<void> {
    const reply = await put(ask, firstQuestion(request), approver);
    const last =
      reply.kind === "chosen" && reply.choice === SHOW ? await put(ask, detailQuestion(request), approver) : reply;
    if (approver.signal.aborted) throw new Refusal("CANCELLED", "The call was cancelled; nothing was done.");
    if (last.kind !== "chosen") throw denied(request, last);
    if (last.choice === YES_FOR_STOP) this.#grant(request);
    else if (last.choice !== YES) throw denied(request, last);
  }

  #isGranted({ stop, operation }: ApprovalRequest): boolean {
    return stop !== undefined && (this.#granted.get(stop)?.has(operation) ?? false);
  }

  #grant({ stop, operation }: ApprovalRequest): void {
    if (stop !== undefined) this.#granted.set(stop, new Set(this.#granted.get(stop)).add(operation));
  }
}

async function put(ask: Ask, question: Question, { signal, progress }: Approver): Promise<Reply> {
  progress("Waiting for the user to allow this.");
  const reminder = setInterval(() => progress("Still waiting for the user to allow this."), REMINDER);
  try {
    const reply = await ask(question, { timeout: ANSWER_SECONDS * 1000, signal });
    return reply.kind === "chosen" && !question.choices.includes(reply.choice) ? { kind: "declined" } : reply;
  } finally {
    clearInterval(reminder);
  }
}

function firstQuestion(request: ApprovalRequest): Question {
  const message = promptText(request, ANSWER_SECONDS);
  return isShownWhole(request)
    ? { message, choices: [YES, NO, SHOW, ...forStop(request)] }
    : { message, choices: [NO, SHOW] };
}

function detailQuestion(request: ApprovalRequest): Question {
  return { message: detailText(request, ANSWER_SECONDS), choices: [YES, NO, ...forStop(request)] };
}

function forStop({ stop }: ApprovalRequest): string[] {
  return stop === undefined ? [] : [YES_FOR_STOP];
}

function denied(request: ApprovalRequest, reply: Reply): Refusal {
  const why = reply.kind === "unanswered" ? "no answer came" : "the user said no";
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; ${why}.`);
}

function cannotAsk(request: ApprovalRequest, mode: ApprovalMode): Refusal {
  const why = mode === "strict" ? "--approval strict" : "the thread belongs to someone else";
  const enough = request.isForeign ? "off" : "ask";
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; ${why}, and this client cannot ask.`, {
    remedy: `Nothing was done. ${withoutAsking(request)}Use a client that supports elicitation, or ask the user to start swank-mcp with --approval ${enough}.`,
  });
}

function notAllowed(request: ApprovalRequest): string {
  return `Not allowed (${request.operation}): ${wholeWish(request)}`;
}

function withoutAsking({ instead, owner }: ApprovalRequest): string {
  if (instead !== undefined) return `${instead} Or: `;
  return owner === undefined ? "" : `Ask the user to do it in ${owner}. Or: `;
}
