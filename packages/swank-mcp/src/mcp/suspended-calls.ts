import { isDeepStrictEqual } from "node:util";
import type { ToolAnswer } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import type { ToolCall } from "../call/run-call.js";
import type { Ask, Question, Reply } from "../session/approval-places.js";
import type { ToolServer } from "../tools/tool-server.js";

/** One request of a client for a call: the first, or one that brings the answer to a question. */
export type CallRequest = Pick<ToolCall, "name" | "args" | "signal" | "progress">;

/** The result of a request: the call's answer, or a question to the user. */
export type Round =
  | { readonly kind: "answered"; readonly answer: ToolAnswer }
  /** The client is to ask, and to make the call again with the reply and `state`. */
  | { readonly kind: "asked"; readonly question: Question; readonly state: string };

/** How many withdrawn questions are kept, and for how many milliseconds, so that a late answer gets the call's result. */
const MAX_WITHDRAWN = 16;

const KEPT_TIME = 600_000;

interface OpenQuestion {
  readonly call: SuspendedCall;
  settle(reply: Reply): void;
}

/**
 * Calls of clients that ask their user between two requests. A call that asks is suspended, with its stop and code, until a request brings
 * the reply, so an approval covers nothing else. Each question can be answered once, in time, by a request that repeats the call. If the user has
 * answered elsewhere, the call goes on without the client, and such a request gets its result, whatever it answers.
 */
export class SuspendedCalls {
  readonly #tools: ToolServer;
  /** By the `requestState` of the question, which only the client that was asked can know. */
  readonly #open = new Map<string, OpenQuestion>();
  /** The calls whose questions were withdrawn, in the same way, oldest first. */
  readonly #withdrawn = new Map<string, SuspendedCall>();

  constructor(tools: ToolServer) {
    this.#tools = tools;
  }

  /** Begins a call, and waits until it answers or asks. */
  begin(request: CallRequest): Promise<Round> {
    const call = new SuspendedCall(request);
    const round = call.attach(request);
    const { name, args, signal } = call;
    const ask: Ask = (question, { timeout, signal: given }) => this.#ask(call, question, timeout, given);
    void this.#tools
      .call({ name, args, signal, progress: (text) => call.progress(text), ask })
      .then((answer) => call.end({ kind: "answered", answer }));
    return round;
  }

  /** Resumes the call whose question was answered. @throws Refusal `APPROVAL_DENIED` if it is not open, or belongs to another call, which is then denied */
  async resume(state: string, reply: Reply, request: CallRequest): Promise<Round> {
    const question = this.#open.get(state);
    const goingOn = this.#withdrawn.get(state);
    if (goingOn?.isMadeBy(request) === true) {
      this.#withdrawn.delete(state);
      return goingOn.attach(request);
    }
    if (question === undefined)
      throw unfit(
        "the question was already answered, has expired, or is not this server's: an answer is accepted once, within 60 s",
      );
    const isSame = question.call.isMadeBy(request);
    const round = isSame ? question.call.attach(request) : undefined;
    question.settle(isSame ? reply : { kind: "failed", why: "the user's answer came with a different call" });
    if (round === undefined) throw unfit("the question belongs to a different call");
    return round;
  }

  /** Ends all calls: the client has disconnected and answers no question. */
  close(): void {
    for (const { call } of this.#open.values()) call.cancel();
    for (const call of this.#withdrawn.values()) call.cancel();
  }

  #keepWithdrawn(state: string, call: SuspendedCall): void {
    this.#withdrawn.set(state, call);
    const [oldest] = this.#withdrawn.keys();
    if (this.#withdrawn.size > MAX_WITHDRAWN && oldest !== undefined) this.#withdrawn.delete(oldest);
    setTimeout(() => this.#withdrawn.delete(state), KEPT_TIME).unref();
  }

  #ask(call: SuspendedCall, question: Question, timeout: number, signal: AbortSignal): Promise<Reply> {
    const state = crypto.randomUUID();
    return new Promise((resolve) => {
      const settle = (reply: Reply) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        this.#open.delete(state);
        resolve(reply);
      };
      const giveUp = () => {
        if (!call.signal.aborted) this.#keepWithdrawn(state, call);
        settle({
          kind: "failed",
          why: call.signal.aborted ? "the call was cancelled" : "the user has answered elsewhere",
        });
      };
      const timer = setTimeout(() => settle({ kind: "unanswered" }), timeout).unref();
      signal.addEventListener("abort", giveUp);
      this.#open.set(state, { call, settle });
      if (signal.aborted) giveUp();
      else call.end({ kind: "asked", question, state });
    });
  }
}

/** A call on its way through several requests of the client; between two of them it belongs to none. */
class SuspendedCall {
  readonly name: unknown;
  readonly args: unknown;
  readonly #cancel = new AbortController();
  #request: CallRequest | undefined;
  #resolve: (round: Round) => void = () => {};
  #last: Round | undefined;

  constructor({ name, args }: CallRequest) {
    this.name = name;
    this.args = args;
  }

  get signal(): AbortSignal {
    return this.#cancel.signal;
  }

  readonly cancel = (): void => this.#cancel.abort();

  isMadeBy({ name, args }: CallRequest): boolean {
    return isDeepStrictEqual({ name, args }, { name: this.name, args: this.args });
  }

  /** From now on the request hears of the call, and can cancel it, until `end`. */
  attach(request: CallRequest): Promise<Round> {
    const last = this.#last;
    if (last?.kind === "asked") this.#last = undefined;
    if (last !== undefined) return Promise.resolve(last);
    this.#request = request;
    request.signal.addEventListener("abort", this.cancel);
    if (request.signal.aborted) this.cancel();
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  progress(text: string): void {
    this.#request?.progress(text);
  }

  /** Ends the current round of the call with this result. Of a call that no request waits for, the next one gets it. */
  end(round: Round): void {
    if (round.kind === "answered" || this.#request === undefined) this.#last = round;
    this.#request?.signal.removeEventListener("abort", this.cancel);
    this.#request = undefined;
    this.#resolve(round);
  }
}

function unfit(why: string): Refusal {
  return new Refusal("APPROVAL_DENIED", `The user's answer matches no open question: ${why}.`, {
    remedy: "Nothing was done. Call again without the answer; the user is then asked again.",
  });
}
