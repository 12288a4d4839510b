import type { DebuggedStop } from "./lisp-port.js";

/** What a person is asked to allow (contract debugger-tools, "Approval Required"). */
export type Operation = ":eval" | ":modify-restarts" | ":set-breakpoint" | ":modify-running-code";

/** Something that needs a person's yes, in full: a yes is for exactly this. */
export interface ApprovalRequest {
  readonly operation: Operation;
  /** What the agent wants, e.g. `evaluate code in frame #2`. */
  readonly wish: string;
  /** What exactly, as labels and texts, e.g. `Code` and the code. */
  readonly particulars: readonly (readonly [label: string, text: string])[];
  /** Where it would happen, for whoever wants to see more. */
  readonly circumstances?: readonly string[];
  /** The stop that it is about, if it is about one: a yes can be for all of it. */
  readonly stop?: DebuggedStop;
  /** It is about a thread that is not this session's own: nothing happens without a yes. */
  readonly isForeign?: boolean;
  /** What the agent can do without a yes, a sentence. */
  readonly instead?: string;
  /** In whose debugger that thread is stopped, if it is another client's. */
  readonly owner?: string | undefined;
}

/** Longest particulars that are shown at once; longer ones only on request, and only then can be allowed. */
const MAX_SHOWN = 2000;

/** Whether the prompt shows everything that is to be allowed. */
export function isShownWhole({ particulars }: ApprovalRequest): boolean {
  return particulars.reduce((length, [, text]) => length + text.length, 0) <= MAX_SHOWN;
}

/** The contract's prompt. */
export function promptText(request: ApprovalRequest, seconds: number): string {
  const room = isShownWhole(request) ? Number.POSITIVE_INFINITY : MAX_SHOWN / request.particulars.length;
  const choices = isShownWhole(request) ? "Yes/No/Show Code" : "No/Show Code";
  return `${statement(request, room)}\n\nAllow? [${choices}] Timeout: ${seconds}s`;
}

/** The prompt after "Show Code": everything, and where it would happen. */
export function detailText(request: ApprovalRequest, seconds: number): string {
  const where = (request.circumstances ?? []).map((line) => `${visible(line)}\n`).join("");
  return `${statement(request, Number.POSITIVE_INFINITY)}\n${where}\nAllow? [Yes/No] Timeout: ${seconds}s`;
}

/** What the agent wants, and whose thread it is about if that is another client's. */
export function wholeWish({ wish, owner }: ApprovalRequest): string {
  return owner === undefined ? wish : `${wish}, in a thread that is stopped in ${owner}`;
}

function statement(request: ApprovalRequest, room: number): string {
  const lines = request.particulars.map(([label, text]) => `${label}:${shown(text, room)}`);
  return [`AI agent wants to ${visible(wholeWish(request))}:`, ...lines].join("\n");
}

/** Text of several lines stands apart, so that it cannot pass for the prompt's own. */
function shown(text: string, room: number): string {
  const whole = visible(text.trim());
  const cut = whole.length <= room ? whole : `${whole.slice(0, room)} [... ${whole.length - room} more characters]`;
  return cut.includes("\n") ? `\n${cut.replace(/^/gm, "  ")}` : ` ${cut}`;
}

/** Characters that a person would not see, or that change the order of others, are written out. */
function visible(text: string): string {
  return text.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
