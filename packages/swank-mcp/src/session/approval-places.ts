import { randomUUID } from "node:crypto";
import type { types } from "swank-client";
import { visibleLine, visibleText } from "../text/visible.js";
import { type ApprovalRequest, actionText, detailText, isShownWhole, promptText } from "./approval-prompt.js";
import type { LispClient } from "./lisp-port.js";

const ANSWER_SECONDS = 60;

/** The same through the image: the call must be answered before the 60 s after which many clients give it up. */
const IMAGE_SECONDS = 55;

const YES = "Yes";

const NO = "No";

const SHOW = "Show Code";

const YES_FOR_STOP = "Yes, for this stop";

/** Why a request was not answered by a client that declares elicitation. */
const UNABLE = "the client declares that it can ask, and cannot";

export interface ApprovalAnswer {
  readonly isAllowed: boolean;
  /** Where it was decided: by the user in the agent's client, in Emacs or on a page, or by the server without the user. */
  readonly by: types.AnswerPlace | "server";
  /** The user's choice, or the reason, a clause. */
  readonly how: string;
}

/** How a request is allowed after the answer "Yes, for this stop". */
export const GRANTED: ApprovalAnswer = { isAllowed: true, by: "server", how: "allowed before, for this stop" };

/** Where the user is asked: in the agent's client, or through the image, in each Emacs and on each page that listens there. */
export type AskedIn = "client" | "image";

export interface PlaceEnd {
  /**
   * `decided`: the user has. Otherwise the answer says why not. `unable`: nobody can ask there, and another place may be asked. `failed`: the user may not
   * have seen the question. `stop-gone`: the stop has ended.
   */
  readonly kind: "decided" | "stop-gone" | "unable" | "failed" | "unanswered";
  readonly answer: ApprovalAnswer;
  readonly isForStop?: boolean;
}

/** A place in which the user can be asked, or several at once. */
export interface Place {
  readonly where: AskedIn;
  /** Whether the image records the question and its answer. */
  readonly isRecorded: boolean;
  /** Asks. Never rejects. Aborting the signal withdraws the question. */
  ask(signal: AbortSignal): Promise<PlaceEnd>;
}

/**
 * The agent's client, and at the same time each Emacs and page that listens in the image, also later. The first decision counts, which the image
 * knows, and the other question is withdrawn. If the client cannot ask, those who listen go on being asked.
 */
export function inClientAndImage(client: Place, request: ApprovalRequest, image: ImageAsker): Place {
  return {
    where: "client",
    isRecorded: true,
    async ask(signal) {
      const withdrawing = new AbortController();
      const ending = AbortSignal.any([signal, withdrawing.signal]);
      const key = randomUUID();
      const there = throughImage(request, image, key).ask(ending);
      const end = await Promise.race([client.ask(ending), decisionOf(there)]);
      if (end.kind === "decided" && end.answer.by === "client") {
        // Who is asked there is then told the answer, not only that the question is gone.
        const { isAllowed } = end.answer;
        const first = imageEnd(await image.settle(key, end.isForStop === true ? "stop" : isAllowed ? "yes" : "no"));
        withdrawing.abort();
        return first.kind === "decided" && first.answer.by !== "client" ? first : end;
      }
      const canWait = end.kind === "unable" || end.kind === "failed";
      if (canWait && !signal.aborted && (await image.isAttended())) {
        const other = await there;
        return other.kind === "unable" ? end : other;
      }
      withdrawing.abort();
      return end;
    },
  };
}

/** The end if it is a decision; otherwise it never settles. */
function decisionOf(asking: Promise<PlaceEnd>): Promise<PlaceEnd> {
  return new Promise((resolve) => {
    void asking.then((end) => {
      if (end.kind === "decided" || end.kind === "stop-gone") resolve(end);
    });
  });
}

/** The agent's client. @param onMute - Called when it turns out to be unable to ask. */
export function inClient(request: ApprovalRequest, ask: Ask, onMute: () => void): Place {
  return {
    where: "client",
    isRecorded: false,
    async ask(signal) {
      const reply = await put(ask, firstQuestion(request), signal);
      const wantsMore = reply.kind === "chosen" && reply.choice === SHOW && !signal.aborted;
      const last = wantsMore ? await put(ask, detailQuestion(request), signal) : reply;
      if (last.kind === "unable") onMute();
      return clientEnd(last);
    },
  };
}

async function put(ask: Ask, question: Question, signal: AbortSignal): Promise<Reply> {
  const reply = await ask(question, { timeout: ANSWER_SECONDS * 1000, signal });
  const isOffered = reply.kind !== "chosen" || question.choices.includes(reply.choice);
  return isOffered ? reply : { kind: "failed", why: "the client's answer is not one of the choices" };
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

function clientEnd(reply: Reply): PlaceEnd {
  switch (reply.kind) {
    case "chosen": {
      const { choice } = reply;
      const isAllowed = choice === YES || choice === YES_FOR_STOP;
      return decided(isAllowed, "client", choice === YES_FOR_STOP);
    }
    case "declined":
      return decided(false, "client");
    case "unanswered":
      return { kind: "unanswered", answer: no("client", noAnswer(reply.seconds ?? ANSWER_SECONDS)) };
    case "failed":
      return { kind: "failed", answer: no("client", reply.why) };
    case "unable":
      return { kind: "unable", answer: no("client", UNABLE) };
  }
}

/** Each Emacs and page that listens in the image. @param key - Names a question that is there for those that begin to listen later, too. */
export function throughImage(request: ApprovalRequest, image: ImageAsker, key?: string): Place {
  return {
    where: "image",
    isRecorded: true,
    ask: async (signal) => imageEnd(await image.ask(request, { seconds: IMAGE_SECONDS, signal, key })),
  };
}

function imageEnd({ answer, place }: types.UserReply): PlaceEnd {
  const by = place ?? "server";
  switch (answer) {
    case "yes":
    case "stop":
      return decided(true, by, answer === "stop");
    case "no":
      return decided(false, by);
    case "stop-gone":
      return { kind: "stop-gone", answer: no("server", "the stop ended before the user answered") };
    case "unanswered":
      return { kind: "unanswered", answer: no("server", noAnswer(IMAGE_SECONDS)) };
    case "nobody":
      return { kind: "unable", answer: no("server", "neither an Emacs nor a page could ask") };
  }
}

function decided(isAllowed: boolean, by: ApprovalAnswer["by"], isForStop = false): PlaceEnd {
  const yes = isForStop ? YES_FOR_STOP : YES;
  return { kind: "decided", isForStop, answer: { isAllowed, by, how: isAllowed ? yes : "the user said no" } };
}

function no(by: ApprovalAnswer["by"], how: string): ApprovalAnswer {
  return { isAllowed: false, by, how };
}

function noAnswer(seconds: number): string {
  return `no answer came within ${seconds} s`;
}

export interface Question {
  readonly message: string;
  readonly choices: readonly [string, ...string[]];
}

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
  readonly timeout: number;
  /** Aborted when the call is cancelled, and when the user has answered in another place. */
  readonly signal: AbortSignal;
}

/** Asks the user. Never rejects. */
export type Ask = (question: Question, options: AskOptions) => Promise<Reply>;

/** Asks the user through the image, in each Emacs that is connected to it and has swank-mcp.el, and on each page. Its functions never reject. */
export type ImageAsker = ReturnType<typeof imageAsker>;

const NOBODY: types.UserReply = { answer: "nobody" };

export function imageAsker(client: Pick<LispClient, "askUser" | "canAskUser" | "activity">) {
  return {
    /** Whether others can join the image, so that somebody may listen later. */
    isShared: client.activity.isRecorded,
    /** Whether somebody listens. */
    isAttended: () => client.canAskUser().catch(() => false),
    /** The answer is `nobody` if the question reached no one who asks. @param options.key - As for `throughImage`. */
    ask(
      request: ApprovalRequest,
      { seconds, signal, key }: { seconds: number; signal: AbortSignal; key: string | undefined },
    ): Promise<types.UserReply> {
      const { particulars, circumstances = [], stop } = request;
      const question = {
        action: actionText(request),
        particulars: particulars.map(([label, text]) => [visibleLine(label), visibleText(text)] as const),
        circumstances: circumstances.map(visibleLine),
        stop: stop && { thread: stop.thread, level: stop.level },
        seconds,
        key,
      };
      return client.askUser(question, { signal }).catch(() => NOBODY);
    },
    /**
     * Ends the question with this key, because the user has given this answer in the client. Returns the answer that counts, which somebody else may have
     * given first, or `nobody` if it is not known in the image.
     */
    settle: (key: string, answer: "yes" | "no" | "stop"): Promise<types.UserReply> =>
      client.activity.settle(key, answer).catch(() => NOBODY),
  };
}
