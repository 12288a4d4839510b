import { wholeEnd } from "./format/cut.js";
import { seenLine, seenText } from "./format/plain-sight.js";
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
  /** Where it would happen; shown on request only. */
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

/** What a person can take in: characters, and lines of a dialog. */
interface Room {
  readonly characters: number;
  readonly lines: number;
}

/** What is shown at once; more is shown only on request, and only then can be allowed. */
const AT_ONCE: Room = { characters: 2000, lines: 40 };
/** What is shown at all. */
const AT_MOST: Room = { characters: 20_000, lines: 400 };
const UNLIMITED: Room = { characters: Number.POSITIVE_INFINITY, lines: Number.POSITIVE_INFINITY };

/** Columns of a dialog: a longer line takes several. */
const WIDTH = 80;
/** Longest label in a prompt that does not show everything, and longest line of the circumstances. */
const MAX_LABEL = 100;
const MAX_CIRCUMSTANCE = 400;

/** Whether the prompt shows everything that is to be allowed. */
export function isShownWhole(request: ApprovalRequest): boolean {
  return fits(statement(request, UNLIMITED), AT_ONCE);
}

/** Whether it can be shown at all. */
export function canBeShown(request: ApprovalRequest): boolean {
  return fits(statement(request, UNLIMITED), AT_MOST);
}

/** The contract's prompt. */
export function promptText(request: ApprovalRequest, seconds: number): string {
  const isWhole = isShownWhole(request);
  const choices = isWhole ? "Yes/No/Show Code" : "No/Show Code";
  return `${statement(request, isWhole ? UNLIMITED : AT_ONCE)}\n\nAllow? [${choices}] Timeout: ${seconds}s`;
}

/** The prompt after "Show Code": everything, and where it would happen. */
export function detailText(request: ApprovalRequest, seconds: number): string {
  const where = (request.circumstances ?? []).map((line) => `${cutLine(seenLine(line), MAX_CIRCUMSTANCE)}\n`).join("");
  return `${statement(request, UNLIMITED)}\n${where}\nAllow? [Yes/No] Timeout: ${seconds}s`;
}

/** What the agent wants, and whose thread it is about if that is another client's. */
export function wholeWish({ wish, owner }: ApprovalRequest): string {
  return seenLine(owner === undefined ? wish : `${wish}, in a thread that is stopped in ${owner}`);
}

function statement(request: ApprovalRequest, room: Room): string {
  const { particulars } = request;
  const each = { characters: room.characters / particulars.length, lines: room.lines / particulars.length };
  const lines = particulars.map(([label, text]) => {
    const name = seenLine(label);
    return `${room === UNLIMITED ? name : cutLine(name, MAX_LABEL)}:${shown(seenText(text), each)}`;
  });
  return [`AI agent wants to ${wholeWish(request)}:`, ...lines].join("\n");
}

/** Text of several lines stands apart, so that it cannot pass for the prompt's own. */
function shown(text: string, room: Room): string {
  const begin = beginning(text, room);
  const left = text.length - begin.length;
  const cut = left === 0 ? text : `${begin} [... ${left} more characters]`;
  return cut.includes("\n") ? `\n${cut.replace(/^/gm, "  ")}` : ` ${cut}`;
}

function beginning(text: string, { characters, lines }: Room): string {
  let left = lines;
  let end = 0;
  for (const line of text.split("\n")) {
    left -= height(line);
    if (left < 0 && end > 0) break;
    end += line.length + 1;
  }
  return text.slice(0, wholeEnd(text, Math.min(characters, end - 1)));
}

function cutLine(line: string, max: number): string {
  return line.length <= max ? line : `${line.slice(0, wholeEnd(line, max))} [... ${line.length - max} more characters]`;
}

function fits(text: string, { characters, lines }: Room): boolean {
  return text.length <= characters && text.split("\n").reduce((sum, line) => sum + height(line), 0) <= lines;
}

/** Lines that a line takes in a dialog. */
function height(line: string): number {
  return Math.max(1, Math.ceil(line.length / WIDTH));
}
