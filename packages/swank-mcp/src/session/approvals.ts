import { once } from "node:events";
import type { Config } from "../base/config.js";
import { Refusal } from "../base/refusals.js";
import { visibleLine } from "../text/visible.js";
import {
  type ApprovalAnswer,
  type Ask,
  type AskedIn,
  GRANTED,
  type ImageAsker,
  inClient,
  inClientAndImage,
  type Place,
  type PlaceEnd,
  throughImage,
} from "./approval-places.js";
import { type ApprovalRequest, actionText, canBeShown, type Operation } from "./approval-prompt.js";
import type { DebuggedStop } from "./lisp-port.js";

const MAX_WAITING = 8;

export type ApprovalMode = Config["approval"];

export interface Approver {
  readonly ask: Ask | undefined;
  readonly image?: ImageAsker | undefined;
  /** The agent of this server whose thread the request is about, if that is another person's. */
  readonly owner?: ThreadOwner | undefined;
  /** Aborted when the call is cancelled or the client disconnects. */
  readonly signal: AbortSignal;
  progress(text: string): void;
  readonly watch?: ApprovalWatch | undefined;
}

/** The agent whose thread another agent wants to act on. Its user decides, never that of the other agent. */
export interface ThreadOwner {
  readonly name: string;
  readonly approvals: Approvals;
  readonly ask: Ask | undefined;
  readonly asking: string;
}

/** How often progress is reported while the user is asked, in milliseconds. */
const REMINDER = 5000;

const WAITING = "Waiting for the user to allow this";

export type Answered = (answer: ApprovalAnswer) => void;

/** Learns of approvals, to record them. Its functions never throw. */
export interface ApprovalWatch {
  /** The user is being asked; if in the client, perhaps through the image at the same time. Returns the function to call with the answer. */
  asked(request: ApprovalRequest, where: AskedIn): Answered;
  decided(request: ApprovalRequest, answer: ApprovalAnswer): void;
}

/** Asks the user before a tool changes a running program. It prevents mistakes only: evaluate-lisp can still do anything. */
export class Approvals {
  readonly #mode: ApprovalMode;
  readonly #record: ApprovalWatch | undefined;
  /** The questions that are asked or wait, which end in the order in which they came. */
  readonly #turns = new Set<Promise<void>>();
  readonly #granted = new WeakMap<DebuggedStop, Set<Operation>>();
  /** True when the client has declared elicitation, and then answered that it has no such method. */
  #isClientMute = false;

  /** @param record - Learns of all approvals but the questions that are asked through the image, which records them itself. */
  constructor(mode: ApprovalMode, record?: ApprovalWatch) {
    this.#mode = mode;
    this.#record = record;
  }

  /** Resolves when the request is allowed. @throws Refusal `APPROVAL_DENIED`, `CANCELLED`, `STALE_STOP` */
  async require(request: ApprovalRequest, given: Approver): Promise<void> {
    if (this.#mode === "off") return;
    const approver = this.#isClientMute ? { ...given, ask: undefined } : given;
    const isNeeded = this.#mode === "strict" || request.isForeign === true;
    if (given.owner !== undefined) await this.#askOwner(request, given, given.owner);
    else if (this.#isGranted(request)) this.#decided(request, approver, GRANTED);
    else if (isNeeded || approver.ask !== undefined || (await isAttended(approver)))
      await this.#askInTurn(request, approver, isNeeded);
  }

  /** Allows for `to`, the stop that a step led to, what was allowed for `from`. */
  carry(from: DebuggedStop, to: DebuggedStop): void {
    const granted = this.#granted.get(from);
    if (granted !== undefined) this.#granted.set(to, granted);
  }

  /** Asks the user of the agent that has the thread, or through the image if that agent's client cannot ask. */
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
    return this.#inTurn(request, approver, async () => {
      return this.#isAllowed(this.#inClient(request, approver.ask), request, approver, true);
    });
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
   * A thread that is not the agent's belongs to the person who owns the image, who is asked through it; the client asks if nobody listens there. About
   * the agent's own threads, both ask at once. A client that turns out to be unable to ask is one that has not said that it can.
   */
  async #askSomewhere(request: ApprovalRequest, approver: Approver, isNeeded: boolean): Promise<void> {
    const { ask, image } = approver;
    const client = ask === undefined || this.#isClientMute ? undefined : this.#inClient(request, ask);
    const isImageFirst = request.isForeign === true || client === undefined;
    if (isImageFirst && (await this.#askThroughImage(request, approver))) return;
    if (client !== undefined) {
      const isShared = !isImageFirst && image?.isShared === true;
      const place = isShared ? inClientAndImage(client, request, image) : client;
      if (await this.#isAllowed(place, request, approver, isNeeded)) return;
    }
    if (!isNeeded) return;
    const { owner } = approver;
    throw this.#refused(
      request,
      approver,
      owner === undefined ? cannotAsk(request, this.#mode === "strict") : ownerNotAsked(request, owner.name),
    );
  }

  async #askThroughImage(request: ApprovalRequest, approver: Approver): Promise<boolean> {
    const { image } = approver;
    if (image === undefined || !(await image.isAttended())) return false;
    return this.#isAllowed(throughImage(request, image), request, approver, true);
  }

  #inClient(request: ApprovalRequest, ask: Ask): Place {
    return inClient(request, ask, () => {
      this.#isClientMute = true;
    });
  }

  /** Asks. @returns false if the place cannot ask. @throws Refusal `APPROVAL_DENIED`, `STALE_STOP`, `CANCELLED` */
  async #isAllowed(place: Place, request: ApprovalRequest, approver: Approver, isNeeded: boolean): Promise<boolean> {
    const { kind, answer, isForStop = false } = await this.#ask(place, request, approver, isNeeded);
    if (kind === "unable") return false;
    if (kind === "stop-gone" && request.stop !== undefined) throw stale(request.stop);
    if (!answer.isAllowed) {
      const isUncertain = answer.by === "client" && kind !== "decided";
      throw denied(request, answer.how + WHERE[answer.by], isUncertain);
    }
    if (isForStop) this.#grant(request);
    return true;
  }

  async #ask(place: Place, request: ApprovalRequest, approver: Approver, isNeeded: boolean): Promise<PlaceEnd> {
    const { where, isRecorded } = place;
    const watching = this.#watching(approver, !isRecorded).map((watch) => watch.asked(request, where));
    let answer: ApprovalAnswer = { isAllowed: false, by: "server", how: "the call was cancelled" };
    try {
      const text = where === "client" ? `${WAITING}.` : `${WAITING} in Emacs or on the page.`;
      const end = await reminding(approver, text, place.ask(approver.signal));
      if (approver.signal.aborted) throw cancelled();
      const isAllowedUnasked = end.kind === "unable" && !isNeeded;
      answer = isAllowedUnasked ? { ...end.answer, isAllowed: true, by: "server" } : end.answer;
      return end;
    } finally {
      for (const answered of watching) answered(answer);
    }
  }

  /** @param withRecord - Whether the record learns of it, too. */
  #watching({ watch }: Approver, withRecord = true): readonly ApprovalWatch[] {
    return [watch, withRecord ? this.#record : undefined].filter((each) => each !== undefined);
  }

  #decided(request: ApprovalRequest, approver: Approver, answer: ApprovalAnswer): void {
    for (const watch of this.#watching(approver)) watch.decided(request, answer);
  }

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

/** Whether a user can be asked through the image. */
async function isAttended({ image }: Approver): Promise<boolean> {
  return image?.isShared === true && (await image.isAttended());
}

/** Where the user has said no, as the end of a refusal. */
const WHERE: Readonly<Record<ApprovalAnswer["by"], string>> = {
  client: "",
  emacs: " in Emacs",
  page: " on the page",
  server: "",
};

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

async function allOrAbort(earlier: readonly Promise<void>[], { signal }: Approver): Promise<void> {
  if (signal.aborted) return;
  const waited = new AbortController();
  const aborted = once(signal, "abort", { signal: waited.signal }).catch(() => undefined);
  await Promise.race([Promise.all(earlier), aborted]);
  waited.abort();
}

/** What the user can do about a client in which no question appears. */
const IF_NOT_ASKED =
  "Nothing was done. If no question appeared, the client declares elicitation but does not show it: the user can start swank-mcp with --approval off, which never asks and leaves the decision to the client's own permissions.";

/** @param isUncertain - Whether the user may not have seen the question. */
function denied(request: ApprovalRequest, why: string, isUncertain = false): Refusal {
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; ${why}.`, isUncertain ? { remedy: IF_NOT_ASKED } : {});
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

function cannotAsk(request: ApprovalRequest, isStrict: boolean): Refusal {
  const why = isStrict ? "--approval strict" : "the thread belongs to another client or to the program";
  const enough = request.isForeign ? "off" : "ask";
  return new Refusal("APPROVAL_DENIED", `${notAllowed(request)}; ${why}, and this client cannot ask.`, {
    remedy: `Nothing was done. ${withoutAsking(request)}Ask the user to load swank-mcp.el in Emacs, which then asks, to use a client that supports elicitation, or to start swank-mcp with --approval ${enough}.`,
  });
}

function ownerNotAsked(request: ApprovalRequest, name: string): Refusal {
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
