import { once } from "node:events";
import type { types } from "swank-client";
import type { Config } from "../base/config.js";
import { Refusal } from "../base/refusals.js";
import { cut } from "../text/cut.js";
import { visibleLine, visibleText } from "../text/visible.js";
import type { DebuggedStop, LispClient } from "./lisp-port.js";

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
  /** The other client in whose debugger the thread is stopped, if any. */
  readonly owner?: string | undefined;
  /** The thread, if it is not stopped. */
  readonly thread?: number;
  /** The agent that wants this, if another agent's user is asked. */
  readonly agent?: string;
}

/** Size limits of a dialog. */
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

/** Whether the first prompt shows the whole request. */
export function isShownWhole(request: ApprovalRequest): boolean {
  return fits(statement(request, UNLIMITED), AT_ONCE);
}

/** Whether the request is short enough to be shown. */
function canBeShown(request: ApprovalRequest): boolean {
  return fits(statement(request, UNLIMITED), AT_MOST);
}

/** The prompt of contract debugger-tools. */
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

/** Rows that a line takes in a dialog. */
function height(line: string): number {
  return Math.max(1, Math.ceil(line.length / WIDTH));
}

/** Most questions that can wait while another is asked. */
const MAX_WAITING = 8;

export type ApprovalMode = Config["approval"];

/** How to reach the user during one call. */
export interface Approver {
  /** Absent when the client cannot ask the user. */
  readonly ask: Ask | undefined;
  /** Absent without an image. */
  readonly askInEmacs?: AskInEmacs | undefined;
  /** The agent of this server whose thread the request is about, if that is another person's. */
  readonly owner?: ThreadOwner | undefined;
  /** Aborted when the call is cancelled or the client disconnects. */
  readonly signal: AbortSignal;
  progress(text: string): void;
  /** Learns of the approvals of this call. */
  readonly watch?: ApprovalWatch | undefined;
}

/** The agent whose thread another agent wants to act on. Its user decides, never that of the other agent. */
export interface ThreadOwner {
  readonly name: string;
  readonly approvals: Approvals;
  /** Absent when its client cannot be asked now. */
  readonly ask: Ask | undefined;
  /** The name of the other agent. */
  readonly asking: string;
}

/** Seconds that the user has for each question. */
const ANSWER_SECONDS = 60;

/** The same in Emacs: the call must be answered before the 60 s after which many clients give it up. */
const EMACS_SECONDS = 55;

/** How often progress is reported while the user is asked, in milliseconds. */
const REMINDER = 5000;

const YES = "Yes";

const NO = "No";

const SHOW = "Show Code";

const YES_FOR_STOP = "Yes, for this stop";

/** Why a request is not allowed whose call was cancelled. */
const CALL_CANCELLED = "the call was cancelled";

/** Why a request was not answered by a client that declares elicitation. */
const UNABLE = "the client declares that it can ask, and cannot";

/** What the user can do about a client in which no question appears. */
const IF_NOT_ASKED =
  "Nothing was done. If no question appeared, the client declares elicitation but does not show it: the user can start swank-mcp with --approval off, which never asks and leaves the decision to the client's own permissions.";

/** How a request is allowed after the answer "Yes, for this stop". */
const GRANTED: ApprovalAnswer = { isAllowed: true, by: "server", how: "allowed before, for this stop" };

/** Asks the user before a tool changes a running program. It prevents mistakes only: evaluate-lisp can still do anything. */
export class Approvals {
  readonly #mode: ApprovalMode;
  readonly #watch: ApprovalWatch | undefined;
  /** The questions that are asked or wait, which end in the order in which they came. */
  readonly #turns = new Set<Promise<void>>();
  /** Operations that the user allowed for a whole stop. */
  readonly #granted = new WeakMap<DebuggedStop, Set<Operation>>();
  /** True when the client has declared elicitation, and then answered that it has no such method. */
  #isClientMute = false;

  /** @param watch - Learns of all approvals. */
  constructor(mode: ApprovalMode, watch?: ApprovalWatch) {
    this.#mode = mode;
    this.#watch = watch;
  }

  /** Resolves when the request is allowed. @throws Refusal `APPROVAL_DENIED`, `CANCELLED`, `STALE_STOP` */
  async require(request: ApprovalRequest, given: Approver): Promise<void> {
    if (this.#mode === "off") return;
    const approver = this.#isClientMute ? { ...given, ask: undefined } : given;
    const isNeeded = this.#mode === "strict" || request.isForeign === true;
    if (given.owner !== undefined) await this.#askOwner(request, given, given.owner);
    else if (this.#isGranted(request)) this.#decided(request, approver, GRANTED);
    else if (isNeeded || approver.ask !== undefined) await this.#askInTurn(request, approver, isNeeded);
  }

  /** Allows for `to`, the stop that a step led to, what was allowed for `from`. */
  carry(from: DebuggedStop, to: DebuggedStop): void {
    const granted = this.#granted.get(from);
    if (granted !== undefined) this.#granted.set(to, granted);
  }

  /** Asks the user of the agent that has the thread, or in Emacs if that agent's client cannot ask. */
  async #askOwner(request: ApprovalRequest, approver: Approver, owner: ThreadOwner): Promise<void> {
    const { name, approvals, ask, asking } = owner;
    const asked = { ...request, agent: asking, owner: `your agent "${name}"` };
    // It is that user's turn that counts: an agent that held its own meanwhile could wait for one that waits for it.
    if (ask !== undefined && (await approvals.#decide(asked, { ...approver, ask }))) return;
    if (this.#isGranted(request)) this.#decided(request, approver, GRANTED);
    else await this.#askInTurn(request, { ...approver, ask: undefined }, true);
  }

  /** Asks this agent's user what another agent may do. @returns false if the client cannot ask. */
  async #decide(request: ApprovalRequest, approver: Approver & { readonly ask: Ask }): Promise<boolean> {
    if (this.#isClientMute) return false;
    if (this.#isGranted(request)) {
      this.#decided(request, approver, GRANTED);
      return true;
    }
    return this.#inTurn(request, approver, () => this.#ask(request, approver.ask, approver, true));
  }

  async #askInTurn(request: ApprovalRequest, approver: Approver, isNeeded: boolean): Promise<void> {
    await this.#inTurn(request, approver, async () => {
      if (!this.#isGranted(request)) await this.#askSomewhere(request, approver, isNeeded);
    });
  }

  /** Asks one question at a time, since a user does not read many dialogs at once. */
  async #inTurn<T>(request: ApprovalRequest, approver: Approver, ask: () => Promise<T>): Promise<T> {
    if (!canBeShown(request)) throw this.#refused(request, approver, tooLong(request));
    if (this.#turns.size > MAX_WAITING) throw this.#refused(request, approver, tooMany(request));
    const earlier = [...this.#turns];
    let end = () => {};
    const turn = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#turns.add(turn);
    try {
      if (earlier.length > 0)
        await reminding(
          approver,
          "Waiting until the user has answered another question.",
          allOrAbort(earlier, approver),
        );
      if (approver.signal.aborted) throw cancelled();
      if (request.stop?.isLive === false) throw stale(request.stop);
      return await ask();
    } finally {
      this.#turns.delete(turn);
      end();
    }
  }

  /**
   * A thread that is not the agent's belongs to the person who owns the image, who is asked in Emacs. The client asks if no Emacs does, and about
   * the agent's own threads. A client that turns out to be unable to ask is one that has not said that it can.
   */
  async #askSomewhere(request: ApprovalRequest, approver: Approver, isNeeded: boolean): Promise<void> {
    const { ask, askInEmacs } = approver;
    const inEmacs = async () => askInEmacs !== undefined && (await this.#askInEmacs(request, askInEmacs, approver));
    const isEmacsFirst = request.isForeign === true || ask === undefined;
    if (isEmacsFirst && (await inEmacs())) return;
    if (ask !== undefined && !this.#isClientMute && (await this.#ask(request, ask, approver, isNeeded))) return;
    if (!isNeeded || (!isEmacsFirst && (await inEmacs()))) return;
    const { owner } = approver;
    throw this.#refused(
      request,
      approver,
      owner === undefined ? cannotAsk(request, this.#mode) : ownerNotAsked(request, owner),
    );
  }

  /** @returns false if no Emacs asks. */
  async #askInEmacs(request: ApprovalRequest, ask: AskInEmacs, approver: Approver): Promise<boolean> {
    let watching: readonly Answered[] = [];
    let answer: ApprovalAnswer = { isAllowed: false, by: "emacs", how: CALL_CANCELLED };
    const onAsked = () => {
      watching = this.#watching(approver).map((watch) => watch.asked(request, "emacs"));
    };
    try {
      const chosen = await putInEmacs(ask, request, approver, onAsked);
      answer = answerInEmacs(chosen);
      if (chosen === "nobody") return false;
      if (chosen === "stop-gone") throw request.stop === undefined ? denied(request, answer.how) : stale(request.stop);
      if (!answer.isAllowed) throw denied(request, `${answer.how} in Emacs`);
      if (chosen === "stop") this.#grant(request);
      return true;
    } finally {
      for (const answered of watching) answered(answer);
    }
  }

  /** @returns false if the client cannot ask. */
  async #ask(request: ApprovalRequest, ask: Ask, approver: Approver, isNeeded: boolean): Promise<boolean> {
    const watching = this.#watching(approver).map((watch) => watch.asked(request, "client"));
    let answer: ApprovalAnswer = { isAllowed: false, by: "client", how: CALL_CANCELLED };
    try {
      const reply = await put(ask, firstQuestion(request), approver);
      const last =
        reply.kind === "chosen" && reply.choice === SHOW ? await put(ask, detailQuestion(request), approver) : reply;
      if (approver.signal.aborted) throw cancelled();
      if (last.kind === "unable") {
        this.#isClientMute = true;
        answer = { isAllowed: !isNeeded, by: isNeeded ? "client" : "server", how: UNABLE };
        return false;
      }
      answer = answerOf(last);
      if (!answer.isAllowed) throw denied(request, answer.how, last);
      if (answer.how === YES_FOR_STOP) this.#grant(request);
      return true;
    } finally {
      for (const answered of watching) answered(answer);
    }
  }

  #watching({ watch }: Approver): readonly ApprovalWatch[] {
    return [watch, this.#watch].filter((each) => each !== undefined);
  }

  #decided(request: ApprovalRequest, approver: Approver, answer: ApprovalAnswer): void {
    for (const watch of this.#watching(approver)) watch.decided(request, answer);
  }

  /** Records a refusal without a question, and returns it. */
  #refused(request: ApprovalRequest, approver: Approver, refusal: Refusal): Refusal {
    this.#decided(request, approver, { isAllowed: false, by: "server", how: refusal.message });
    return refusal;
  }

  #isGranted({ stop, operation }: ApprovalRequest): boolean {
    return stop !== undefined && (this.#granted.get(stop)?.has(operation) ?? false);
  }

  #grant({ stop, operation }: ApprovalRequest): void {
    if (stop !== undefined) this.#granted.set(stop, new Set(this.#granted.get(stop)).add(operation));
  }
}

async function putInEmacs(
  ask: AskInEmacs,
  request: ApprovalRequest,
  approver: Approver,
  onAsked: () => void,
): Promise<types.UserAnswer> {
  const asked = ask(request, { seconds: EMACS_SECONDS, signal: approver.signal, onAsked });
  const answer = await reminding(approver, "Waiting for the user to allow this in Emacs.", asked);
  if (approver.signal.aborted) throw cancelled();
  return answer;
}

async function put(ask: Ask, question: Question, approver: Approver): Promise<Reply> {
  const asked = ask(question, { timeout: ANSWER_SECONDS * 1000, signal: approver.signal });
  const reply = await reminding(approver, "Waiting for the user to allow this.", asked);
  const isOffered = reply.kind !== "chosen" || question.choices.includes(reply.choice);
  return isOffered ? reply : { kind: "failed", why: "the client's answer is not one of the choices" };
}

/** Reports progress repeatedly while waiting: a client without progress may time out. */
async function reminding<T>({ progress }: Approver, what: string, waiting: Promise<T>): Promise<T> {
  progress(what);
  const reminder = setInterval(() => progress(`Still ${what.charAt(0).toLowerCase()}${what.slice(1)}`), REMINDER);
  try {
    return await waiting;
  } finally {
    clearInterval(reminder);
  }
}

/** Resolves when the earlier questions have ended or the call is cancelled. */
async function allOrAbort(earlier: readonly Promise<void>[], { signal }: Approver): Promise<void> {
  if (signal.aborted) return;
  const waited = new AbortController();
  const aborted = once(signal, "abort", { signal: waited.signal }).catch(() => undefined);
  await Promise.race([Promise.all(earlier), aborted]);
  waited.abort();
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

function denied(request: ApprovalRequest, why: string, reply?: Reply): Refusal {
  const isUncertain = reply?.kind === "unanswered" || reply?.kind === "failed";
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; ${why}.`, isUncertain ? { remedy: IF_NOT_ASKED } : {});
}

function answerOf(reply: Reply): ApprovalAnswer {
  const isAllowed = reply.kind === "chosen" && (reply.choice === YES || reply.choice === YES_FOR_STOP);
  return { isAllowed, by: "client", how: isAllowed ? reply.choice : whyDenied(reply) };
}

function answerInEmacs(chosen: types.UserAnswer): ApprovalAnswer {
  if (chosen === "stop-gone") return { isAllowed: false, by: "emacs", how: "the stop ended before the user answered" };
  if (chosen === "nobody") return { isAllowed: false, by: "emacs", how: "no Emacs could ask" };
  if (chosen === "yes" || chosen === "stop")
    return { isAllowed: true, by: "emacs", how: chosen === "yes" ? YES : YES_FOR_STOP };
  const reply: Reply = chosen === "no" ? { kind: "declined" } : { kind: chosen, seconds: EMACS_SECONDS };
  return { isAllowed: false, by: "emacs", how: whyDenied(reply) };
}

function whyDenied(reply: Reply): string {
  if (reply.kind === "failed") return reply.why;
  return reply.kind === "unanswered"
    ? `no answer came within ${reply.seconds ?? ANSWER_SECONDS} s`
    : "the user said no";
}

function tooMany(request: ApprovalRequest): Refusal {
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; too many other questions wait for the user.`, {
    remedy: "Nothing was done. Call again after the user has answered the pending questions.",
  });
}

function tooLong(request: ApprovalRequest): Refusal {
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; it is too long to show to the user.`, {
    remedy: "Nothing was done. Do it in several smaller steps, or define a function with evaluate-lisp and call that.",
  });
}

function cancelled(): Refusal {
  return new Refusal("CANCELLED", "The call was cancelled; nothing was done.");
}

function stale({ thread, level }: DebuggedStop): Refusal {
  return new Refusal("STALE_STOP", `The stop ${thread}/${level} ended before the user answered.`);
}

function cannotAsk(request: ApprovalRequest, mode: ApprovalMode): Refusal {
  const why = mode === "strict" ? "--approval strict" : "the thread belongs to another client or to the program";
  const enough = request.isForeign ? "off" : "ask";
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; ${why}, and this client cannot ask.`, {
    remedy: `Nothing was done. ${withoutAsking(request)}Ask the user to load swank-mcp.el in Emacs, which then asks, to use a client that supports elicitation, or to start swank-mcp with --approval ${enough}.`,
  });
}

function ownerNotAsked(request: ApprovalRequest, { name }: ThreadOwner): Refusal {
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

/** The end of an approval. */
export interface ApprovalAnswer {
  readonly isAllowed: boolean;
  /** Where it was decided: by the user in the agent's client or in Emacs, or by the server without a question. */
  readonly by: AskedIn | "server";
  /** The user's choice, or the reason, a clause. */
  readonly how: string;
}

/** Where the user is asked. */
export type AskedIn = "client" | "emacs";

/** Called with the answer, once. */
export type Answered = (answer: ApprovalAnswer) => void;

/** Learns of approvals, to record them. Its functions never throw. */
export interface ApprovalWatch {
  /** The user is being asked. Returns the function to call with the answer. */
  asked(request: ApprovalRequest, where: AskedIn): Answered;
  /** A request was allowed or refused without a question. */
  decided(request: ApprovalRequest, answer: ApprovalAnswer): void;
}

/** A question to the client's user, with the answers to choose from. */
export interface Question {
  readonly message: string;
  readonly choices: readonly [string, ...string[]];
}

/** The result of a question. */
export type Reply =
  | { readonly kind: "chosen"; readonly choice: string }
  /** The user declined or dismissed the question. */
  | { readonly kind: "declined" }
  /** The time was up, after so many seconds if that was earlier than asked for. */
  | { readonly kind: "unanswered"; readonly seconds?: number }
  /** The client has no way to ask, although it says so. */
  | { readonly kind: "unable" }
  /** The question did not reach the user, or the answer did not come back; `why` is a clause without a full stop. */
  | { readonly kind: "failed"; readonly why: string };

export interface AskOptions {
  /** Milliseconds that the user has to answer. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Asks the user. Never rejects. */
export type Ask = (question: Question, options: AskOptions) => Promise<Reply>;

export interface AskInEmacsOptions {
  /** Seconds that the user has. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** Called before the question is sent to an Emacs. */
  onAsked(): void;
}

/** Asks the user in Emacs. Never rejects: `nobody` if the question reached no Emacs that asks. */
export type AskInEmacs = (request: ApprovalRequest, options: AskInEmacsOptions) => Promise<types.UserAnswer>;

/** Asks through the image, in each Emacs that is connected to it and has swank-mcp.el. */
export function askThroughImage(client: Pick<LispClient, "askUser" | "canAskUser">): AskInEmacs {
  return async (request, { seconds, signal, onAsked }) => {
    const { particulars, circumstances = [], stop } = request;
    const question = {
      action: actionText(request),
      particulars: particulars.map(([label, text]) => [visibleLine(label), visibleText(text)] as const),
      circumstances: circumstances.map(visibleLine),
      stop: stop && { thread: stop.thread, level: stop.level },
      seconds,
    };
    if (!(await client.canAskUser().catch(() => false))) return "nobody";
    onAsked();
    return client.askUser(question, { signal }).then(
      ({ answer }) => answer,
      () => "nobody",
    );
  };
}
