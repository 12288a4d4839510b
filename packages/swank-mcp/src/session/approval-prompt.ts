import { cut } from "../text/cut.js";
import { visibleLine, visibleText } from "../text/visible.js";
import type { DebuggedStop } from "./lisp-port.js";

/** The operation that the user is asked to allow (contract debugger-tools, "Approval Required"). */
export type Operation = ":eval" | ":modify-restarts" | ":set-breakpoint" | ":modify-running-code";

/** A complete action that needs the user's approval. An approval covers exactly this action. */
export interface ApprovalRequest {
  readonly operation: Operation;
  /** The action as a verb phrase, e.g. `evaluate code in frame #2`. */
  readonly action: string;
  /** The details as labels and texts, e.g. `Code` and the code. */
  readonly particulars: readonly (readonly [label: string, text: string])[];
  /** Where the action would happen; shown only on request. */
  readonly circumstances?: readonly string[];
  /** The stop that the action is about, if any. The user can approve the operation for the whole stop. */
  readonly stop?: DebuggedStop;
  /** Whether the thread belongs to another client or the program: the action then always needs approval, unless approval is off. */
  readonly isForeign?: boolean;
  /** What the agent can do without approval, a sentence. */
  readonly instead?: string;
  readonly owner?: string | undefined;
  readonly thread?: number;
  /** The agent that wants this, if another agent's user is asked. */
  readonly agent?: string;
}

interface Room {
  readonly characters: number;
  readonly lines: number;
}

/** Limit of the first prompt. A longer request is shown whole only on request, and can be allowed only then. */
const AT_ONCE: Room = { characters: 2000, lines: 40 };

/** Limit of what can be shown. A longer request is denied. */
const AT_MOST: Room = { characters: 20_000, lines: 400 };

const UNLIMITED: Room = { characters: Number.POSITIVE_INFINITY, lines: Number.POSITIVE_INFINITY };

/** Columns of a dialog: a longer line takes several rows. */
const WIDTH = 80;

/** Most characters of a label in a shortened prompt, and of a line of the circumstances. */
const MAX_LABEL = 100;

const MAX_CIRCUMSTANCE = 400;

export function isShownWhole(request: ApprovalRequest): boolean {
  return fits(statement(request, UNLIMITED), AT_ONCE);
}

export function canBeShown(request: ApprovalRequest): boolean {
  return fits(statement(request, UNLIMITED), AT_MOST);
}

export function promptText(request: ApprovalRequest, seconds: number): string {
  const isWhole = isShownWhole(request);
  const choices = isWhole ? "Yes/No/Show Code" : "No/Show Code";
  return `${statement(request, isWhole ? UNLIMITED : AT_ONCE)}\n\nAllow? [${choices}] Timeout: ${seconds}s`;
}

/** The prompt after "Show Code": the whole request and its circumstances. */
export function detailText(request: ApprovalRequest, seconds: number): string {
  const where = (request.circumstances ?? [])
    .map((line) => `${cut(visibleLine(line), MAX_CIRCUMSTANCE, leftMark)}\n`)
    .join("");
  return `${statement(request, UNLIMITED)}\n${where}\nAllow? [Yes/No] Timeout: ${seconds}s`;
}

/** The action, with the thread's owner if that is another client. */
export function actionText({ action, owner, thread }: ApprovalRequest): string {
  if (owner === undefined) return visibleLine(action);
  return visibleLine(
    `${action}, ${thread === undefined ? "in a thread that is stopped in" : "which runs code of"} ${owner}`,
  );
}

function statement(request: ApprovalRequest, room: Room): string {
  const { particulars } = request;
  const each = { characters: room.characters / particulars.length, lines: room.lines / particulars.length };
  const lines = particulars.map(([label, text]) => {
    const name = visibleLine(label);
    return `${room === UNLIMITED ? name : cut(name, MAX_LABEL, leftMark)}:${shown(visibleText(text), each)}`;
  });
  const agent = request.agent === undefined ? "AI agent" : `AI agent "${cut(request.agent, MAX_LABEL, leftMark)}"`;
  return [`${visibleLine(agent)} wants to ${actionText(request)}:`, ...lines].join("\n");
}

/** Text after its label. Several lines are indented, so that they cannot imitate the prompt's own lines. */
function shown(text: string, room: Room): string {
  const fitting = cut(text, lengthWithin(text, room), leftMark);
  return fitting.includes("\n") ? `\n${fitting.replace(/^/gm, "  ")}` : ` ${fitting}`;
}

function lengthWithin(text: string, { characters, lines }: Room): number {
  let left = lines;
  let end = 0;
  for (const line of text.split("\n")) {
    left -= height(line);
    if (left < 0 && end > 0) break;
    end += line.length + 1;
  }
  return Math.floor(Math.min(characters, end - 1));
}

function leftMark(left: number): string {
  return ` [... ${left} more characters]`;
}

function fits(text: string, { characters, lines }: Room): boolean {
  return text.length <= characters && text.split("\n").reduce((sum, line) => sum + height(line), 0) <= lines;
}

function height(line: string): number {
  return Math.max(1, Math.ceil(line.length / WIDTH));
}
