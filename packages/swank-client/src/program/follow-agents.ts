import { setTimeout as pause } from "node:timers/promises";
import { type Decoded, decode, keyword, list as listForm, quote, symbol } from "sexp-parser";
import { callListener } from "../base/events.js";
import { check, type OptionsOf } from "../base/options.js";
import { decodedIfKnown, keywordOf, lispFunction, nothing } from "../runtime/function.js";
import type { LispRunner } from "../runtime/runner.js";
import type { Connection } from "../wire/connection.js";
import { ownCode } from "../wire/sent.js";
import { answersOf, PROTOCOL, requestForm } from "./agent-requests.js";

const { boolean, integer, list, map, nullable, optional, plist, real, record, string, tagged, tuple } = decode;

/** Seconds since 1970, as milliseconds. */
const time = map(real, (seconds) => Math.round(seconds * 1000));

const callStop = record({ thread: integer, level: integer, message: string });

/** Where a call of an agent is stopped in the debugger. */
export interface CallStop extends Decoded<typeof callStop> {}

/**
 * How a call of an agent ended. `lost`: the agent disconnected. `refused`: the user, or the agent's server, did not allow it; nothing was
 * done.
 */
export const CALL_STATUSES = ["returned", "failed", "aborted", "lost", "refused"] as const;

/** `call-plist` of lisp/emacs/observer.lisp. */
const agentCall = plist({
  /** Unique in the image. Later calls have greater numbers. */
  number: integer,
  /** How often it has changed. */
  revision: integer,
  /** The agent's name, unique among those that are connected. */
  agent: string,
  /** `evaluate`, `approval` for a question to the user, `background stop`, or another function of the runtime or tool. */
  operation: string,
  /** At most 20,000 characters, then their number. */
  code: string,
  package: optional(nullable(string)),
  /** Milliseconds since the epoch. */
  begun: time,
  ended: optional(nullable(time)),
  /** What it has printed, at most 20,000 characters, in a ledger 4,000; then the number of the others. */
  output: string,
  stop: optional(nullable(callStop)),
  /** Absent while it runs. */
  status: optional(nullable(keywordOf(CALL_STATUSES))),
  /** The values, or why it failed. */
  result: string,
});

/** Something that an agent has done in the image. */
export interface AgentCall extends Decoded<typeof agentCall> {}

/** `question-plist` of lisp/emacs/questions.lisp. */
const posedQuestion = plist({
  /** For `answer`. */
  number: integer,
  agent: string,
  /** A verb phrase, e.g. `evaluate code in frame #2`. */
  action: string,
  /** The details, e.g. `Code` and the code. */
  particulars: list(tuple(string, string)),
  /** Where the action would happen, in lines. */
  circumstances: list(string),
  /** Whether it can be allowed for the whole stop. */
  forStop: boolean,
  /** Whether a single key must not allow it. */
  inFull: boolean,
  /** Milliseconds since the epoch. */
  asked: time,
  /** The time that the user has. */
  seconds: real,
});

/** A question of an agent that waits for the user's answer. */
export interface PosedQuestion extends Decoded<typeof posedQuestion> {}

/** `(VERSION NUMBER (NAME ...))`: of two of one version, the one with the greater number is newer. */
const versionAgents = record({ version: string, number: integer, names: list(string) });

type VersionAgents = Decoded<typeof versionAgents>;

const versionLedger = plist({
  agents: versionAgents,
  questions: list<PosedQuestion>(posedQuestion),
  total: integer,
  calls: list<AgentCall>(agentCall),
});

/** What a version of the runtime knows of the agents. */
type VersionLedger = Decoded<typeof versionLedger>;

/** What agents have done in an image, as far as it keeps that. */
export interface AgentsLedger {
  /** The names of the agents that are connected, sorted. */
  readonly agents: readonly string[];
  /** The latest calls, oldest first: of each version of the runtime at most 100. None with the option `calls: false`. */
  readonly calls: readonly AgentCall[];
  /** Number of earlier calls. */
  readonly earlier: number;
  /** The questions that wait for an answer, oldest first; none without the option `questions`. */
  readonly questions: readonly PosedQuestion[];
}

/**
 * Why a question ended. `unanswered`: the time was up. `nobody`: nobody who can be asked is left. `stop-gone`: the stop that it is about has
 * ended. `gone`: the agent does not ask any more.
 */
const QUESTION_ENDS = ["answered", "unanswered", "nobody", "stop-gone", "gone"] as const;

const change = { number: integer, revision: integer };

/** Where a user answers a question: in Emacs, where a program calls `answer`, or in the agent's own client (`settle`). */
export const ANSWER_PLACES = ["emacs", "page", "client"] as const;

/** One of `ANSWER_PLACES`. */
export type AnswerPlace = (typeof ANSWER_PLACES)[number];

const withdrawn = record(
  {
    number: integer,
    reason: keywordOf(QUESTION_ENDS),
    answer: optional(nullable(keywordOf(["yes", "no", "stop"]))),
    /** Where the answer was given, as far as the version of the runtime tells it. */
    place: optional(nullable(keywordOf(ANSWER_PLACES))),
  },
  { type: "withdraw" },
);

const event = tagged({
  agents: record({ agents: versionAgents }, { type: "agents" }),
  begin: record({ call: agentCall }, { type: "begin" }),
  output: record({ ...change, text: string }, { type: "output" }),
  stop: record({ ...change, stop: callStop }, { type: "stop" }),
  resume: record(change, { type: "resume" }),
  end: record({ ...change, status: keywordOf(CALL_STATUSES), result: string, ended: time }, { type: "end" }),
  ask: record({ question: posedQuestion }, { type: "ask" }),
  /** Of versions before `withdrawn`. */
  withdraw: withdrawn,
  withdrawn,
  /** Another version of the runtime has come. */
  runtime: nothing(() => ({ type: "gap" as const })),
  gap: nothing(() => ({ type: "gap" as const })),
});

type WireEvent = Decoded<typeof event>;

/** Events of the agents of an image. Those about a call name its number, and its revision after the event. */
export type AgentEvent =
  /** The names of all agents that are connected. */
  | { readonly type: "agents"; readonly agents: readonly string[] }
  | Exclude<WireEvent, { type: "agents" | "gap" }>
  /** Events were left out, or a further version of the runtime has come: this replaces all that is known. */
  | { readonly type: "ledger"; readonly ledger: AgentsLedger };

export const followOptions = {
  /** Whether calls are told; without them only which agents are connected, and questions. That costs agents nothing. Default: true. */
  calls: check.flag,
  /** Whether agents' questions to the user are told here, so that `answer` can answer them. An agent that asks then waits for it. */
  questions: check.flag,
};

/** What to follow. */
export interface FollowAgentsOptions extends OptionsOf<typeof followOptions> {}

/** Agents that are followed. */
export interface FollowedAgents {
  /** What was known when the following began. All events come after that. */
  readonly ledger: AgentsLedger;
  /** Ends the following: the listener is called no more. Never rejects. */
  end(): Promise<void>;
}

/** Milliseconds that the image has to answer. */
const ANSWER_TIME = 10_000;

/** Milliseconds until the ledger is asked for again if the image has not answered. */
const AGAIN = 1000;

const AGENT_EVENTS = ["agents", "runtime", "gap", "page"];

const CALL_EVENTS = ["begin", "output", "stop", "resume", "end"];

const QUESTION_EVENTS = ["ask", "withdraw", "withdrawn"];

/** The first number of channels that other users of a connection do not have. */
const FIRST_CHANNEL = 0x5357_4d00;

const LISTENERS = "(cl:get :swank-mcp :listeners)";

const ledgers = answersOf(versionLedger);

/**
 * Announces this connection to every version of the runtime, as Emacs does, and asks for their ledgers. While there is none, the next one finds
 * the connection in the list. If there is one, nothing of this needs SBCL's compiler.
 */
const announce = lispFunction({
  name: "cl:progn",
  ability: "runtime",
  label: () => "following agents",
  encode: (channel: number, events: readonly string[]) => {
    const names = events.map((name) => `:${name}`).join(" ");
    const listener = `(cl:list swank::*emacs-connection* ${channel} ${PROTOCOL} '(${names}))`;
    return [
      ownCode(
        `(cl:if (cl:find ${PROTOCOL} (cl:car (cl:get :swank-mcp :runtimes)) :key 'cl:first)
                cl:nil
                (cl:progn (cl:unless ${LISTENERS} (cl:setf ${LISTENERS} (cl:list cl:nil)))
                          (sb-ext:atomic-push ${listener} (cl:car ${LISTENERS}))))`,
      ),
      requestForm("announce", channel, quote(listForm(...events.map(keyword)))),
    ];
  },
  decode: ledgers,
  timeout: ANSWER_TIME,
});

/** Takes this connection out of the list of listeners. */
const leave = lispFunction({
  name: "cl:progn",
  label: () => "following agents no more",
  encode: () => [
    ownCode(
      `(cl:when ${LISTENERS}
         (sb-ext:atomic-update (cl:car ${LISTENERS})
                               (cl:lambda (listeners) (cl:remove swank::*emacs-connection* listeners :key 'cl:first))))`,
    ),
    symbol("cl:nil"),
  ],
  decode: decode.any,
  timeout: ANSWER_TIME,
});

const askLedger = lispFunction({
  name: "cl:identity",
  label: () => "asking what agents have done",
  encode: () => [requestForm("ledger")],
  decode: ledgers,
  timeout: ANSWER_TIME,
});

/** Follows the agents of an image, once. */
export class AgentFollower {
  readonly #lisp: LispRunner;
  readonly #connection: Connection;
  readonly #asksHere: boolean;
  readonly #tellsCalls: boolean;
  readonly #listener: (event: AgentEvent) => void;
  readonly #channel = FIRST_CHANNEL + Math.floor(Math.random() * 0x1_0000);
  readonly #ending = new AbortController();
  /** The latest list of each version of the runtime. */
  readonly #agents = new Map<string, VersionAgents>();
  /** The revisions of the calls that can still change. */
  readonly #revisions = new Map<number, number>();
  #questions = new Set<number>();
  /** What was told while a ledger is awaited, which may contain it; `undefined` while none is. */
  #waiting: WireEvent[] | undefined;

  constructor(
    lisp: LispRunner,
    connection: Connection,
    options: FollowAgentsOptions,
    listener: (event: AgentEvent) => void,
  ) {
    this.#lisp = lisp;
    this.#connection = connection;
    this.#asksHere = options.questions === true;
    this.#tellsCalls = options.calls !== false;
    this.#listener = listener;
  }

  /** False once it has ended, also with the connection. */
  get isOpen(): boolean {
    return !this.#ending.signal.aborted;
  }

  /** @throws SwankError the errors of `LispRunner.run`. */
  async begin(): Promise<AgentsLedger> {
    const { signal } = this.#ending;
    signal.addEventListener(
      "abort",
      this.#connection.on("event", (message) => {
        if (message.type !== "channel-send" || message.channel !== this.#channel) return;
        const told = decodedIfKnown(event, [keyword(message.method), ...message.args]);
        if (told !== undefined) this.#receive(told);
      }),
    );
    signal.addEventListener(
      "abort",
      this.#connection.on("closed", () => this.#ending.abort()),
    );
    this.#waiting = [];
    try {
      const events = [
        ...AGENT_EVENTS,
        ...(this.#tellsCalls ? CALL_EVENTS : []),
        ...(this.#asksHere ? QUESTION_EVENTS : []),
      ];
      const ledger = this.#take(await this.#lisp.run(announce, this.#channel, events));
      // After the caller has got the ledger.
      setImmediate(() => this.#deliver());
      return ledger;
    } catch (error) {
      this.#ending.abort();
      throw error;
    }
  }

  async end(): Promise<void> {
    if (!this.isOpen) return;
    this.#ending.abort();
    await this.#lisp.run(leave).catch(() => undefined);
  }

  #receive(told: WireEvent): void {
    if (this.#waiting !== undefined) this.#waiting.push(told);
    else if (told.type === "gap") void this.#renew();
    else this.#tell(told);
  }

  /** Asks for the ledger until the image answers. What it tells meanwhile comes afterwards. */
  async #renew(): Promise<void> {
    this.#waiting = [];
    while (this.isOpen) {
      const ledgers = await this.#lisp.run(askLedger).catch(() => undefined);
      if (ledgers !== undefined) {
        this.#emit({ type: "ledger", ledger: this.#take(ledgers) });
        return this.#deliver();
      }
      await pause(AGAIN, undefined, { signal: this.#ending.signal }).catch(() => undefined);
    }
  }

  /** Tells what has come while a ledger was awaited, and is not in it. */
  #deliver(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    // A gap among them begins another wait, for which the others wait, too.
    for (const told of waiting) this.#receive(told);
  }

  #take(ledgers: readonly VersionLedger[]): AgentsLedger {
    for (const { agents } of ledgers) this.#note(agents);
    const told = this.#tellsCalls ? ledgers : [];
    const calls = told.flatMap((ledger) => ledger.calls).sort((one, other) => one.number - other.number);
    for (const { number, revision } of calls) this.#revisions.set(number, revision);
    const questions = this.#asksHere ? ledgers.flatMap((ledger) => ledger.questions) : [];
    this.#questions = new Set(questions.map(({ number }) => number));
    return {
      agents: this.#names(),
      calls,
      earlier: ledgers.reduce((sum, { total }) => sum + total, 0) - calls.length,
      questions: questions.sort((one, other) => one.number - other.number),
    };
  }

  #tell(told: Exclude<WireEvent, { type: "gap" }>): void {
    switch (told.type) {
      case "agents":
        this.#note(told.agents);
        this.#emit({ type: "agents", agents: this.#names() });
        break;
      case "ask":
        if (this.#questions.has(told.question.number)) break;
        this.#questions.add(told.question.number);
        this.#emit(told);
        break;
      case "withdraw":
        // Otherwise it had ended before the ledger was made.
        if (this.#questions.delete(told.number)) this.#emit(told);
        break;
      case "begin":
        this.#emitNew(told, told.call.number, told.call.revision, true);
        break;
      default:
        this.#emitNew(told, told.number, told.revision, false);
        if (told.type === "end") this.#revisions.delete(told.number);
    }
  }

  /** Emits an event about a call unless a later one, or the ledger, has told it. A call that is not known is earlier than the ledger's. */
  #emitNew(told: AgentEvent, number: number, revision: number, begins: boolean): void {
    const known = this.#revisions.get(number);
    if (known === undefined ? !begins : known >= revision) return;
    this.#revisions.set(number, revision);
    this.#emit(told);
  }

  #note(agents: VersionAgents): void {
    const known = this.#agents.get(agents.version);
    if (known === undefined || known.number < agents.number) this.#agents.set(agents.version, agents);
  }

  #names(): readonly string[] {
    return [...this.#agents.values()].flatMap(({ names }) => names).sort();
  }

  #emit(told: AgentEvent): void {
    if (!this.isOpen) return;
    callListener(this.#listener, told, (error) => this.#connection.reportListenerError(error, told.type));
  }
}
