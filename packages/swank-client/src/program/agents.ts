import { type Decoded, type Decoder, decode, keyword, list as listForm, NIL, quote, type Sexp } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, checkOptions } from "../base/options.js";
import { forms, keywordForms, keywordOf, lispFunction, nothing } from "../runtime/function.js";
import type { LispRunner } from "../runtime/runner.js";
import type { Connection } from "../wire/connection.js";
import { ownCode } from "../wire/sent.js";
import {
  type AgentEvent,
  AgentFollower,
  ANSWER_PLACES,
  type AnswerPlace,
  type FollowAgentsOptions,
  type FollowedAgents,
  followOptions,
} from "./follow-agents.js";
import {
  type AgentFate,
  answerQuestion,
  askAgents,
  type KickedAgents,
  kickAgent,
  kickAll,
  pauseAgent,
  QUESTION_ANSWERS,
  type QuestionAnswer,
} from "./steer-agents.js";

const { any, boolean, integer, list, map, nullable, optional, plist, record, string, tagged, tuple } = decode;

const ANSWERS = ["yes", "no", "stop"] as const;

type SettledAnswer = (typeof ANSWERS)[number];

const checkAnswer = check.choice(QUESTION_ANSWERS);

const checkSettled = check.choice(ANSWERS);

const checkListener = check.function();

/** Milliseconds that the image has to note something. */
const NOTE_TIME = 5000;

/** A call of an agent that its server refused, so that no request shows it. */
export interface RefusedCall {
  /** The tool's name. */
  readonly tool: string;
  /** The code or the arguments that the agent sent. */
  readonly code: string;
  /** The package in which the code would have been read. Default: none. */
  readonly package?: string | undefined;
  /** Why the call was refused. */
  readonly reason: string;
}

/** Records a question to the agent's user. Gives its number, `undefined` for a client without a name (lisp/emacs/observer.lisp). */
const noteQuestion = lispFunction({
  name: "note-question",
  module: "emacs",
  encode: (text: string) => [text],
  decode: nullable(integer),
  timeout: NOTE_TIME,
  label: () => "recording a question",
});

/** Records the answer to a question: whether it was yes, and who gave it, and how. */
const noteAnswer = lispFunction({
  name: "note-answer",
  module: "emacs",
  encode: (question: number, isAllowed: boolean, text: string) => forms(question, isAllowed, text),
  decode: any,
  timeout: NOTE_TIME,
  label: () => "recording an answer",
});

/** Records a call that the agent's server refused. */
const noteRefusal = lispFunction({
  name: "note-refusal",
  module: "emacs",
  encode: ({ tool, code, package: packageName, reason }: RefusedCall) => forms(tool, code, packageName, reason),
  decode: any,
  timeout: NOTE_TIME,
  label: () => "recording a refused call",
});

const call = record({
  /** The agent's name, as the user's Emacs shows it. */
  agent: string,
  /** Swank's id of the thread; `undefined` if the call has none of its own. */
  thread: nullable(integer),
  /** `evaluate`, `approval` for a question to the user, or another function of the runtime. */
  operation: string,
  /** The first line of the code, at most 60 characters. */
  code: string,
  /** Milliseconds since the epoch. */
  begun: integer,
  state: keywordOf(["running", "stopped", "asking"]),
  /** Whether it is a call of the client that asks. */
  isMine: boolean,
});

/** Something that an agent does in the image now. */
export interface RunningCall extends Decoded<typeof call> {}

/** Asks every version of the runtime in the image, and loads none (lisp/emacs/listeners.lisp). */
const FORM = ownCode(
  `(cl:loop for (protocol cl:nil answer) in (cl:car (cl:get :swank-mcp :runtimes))
            for calls = (cl:and (cl:eql protocol 1) (cl:ignore-errors (cl:funcall answer :running)))
            when (cl:listp calls) append calls)`,
);

/** What the agents of the image do now, as far as they are recorded. */
const runningCalls = lispFunction({
  name: "cl:identity",
  label: () => "listing what agents run",
  encode: () => [FORM],
  decode: list<RunningCall>(call),
  timeout: 5000,
});

/**
 * The image's record of what agents do, which Emacs shows. It records the calls of clients with an `agentName` by itself; the methods that
 * note something add what no request shows, and do nothing for other clients.
 */
export class AgentActivity {
  readonly #lisp: LispRunner;
  readonly #connection: Connection;
  readonly #isNamed: boolean;
  readonly #recorded: () => Promise<string> | undefined;
  #follower: AgentFollower | undefined;

  /** @param recorded - Asks for the name under which the image records this client; `undefined` if it has recorded nothing. */
  constructor(
    lisp: LispRunner,
    connection: Connection,
    isNamed: boolean,
    recorded: () => Promise<string> | undefined = () => undefined,
  ) {
    this.#lisp = lisp;
    this.#connection = connection;
    this.#isNamed = isNamed;
    this.#recorded = recorded;
  }

  /** Whether the image records what this client does. */
  get isRecorded(): boolean {
    return this.#isNamed;
  }

  /**
   * The name under which the image records what this client does, with a number if another agent has the same `agentName`.
   *
   * @returns `undefined` for a client without a name, and before the image has been told it, with the first evaluation.
   * @throws SwankError the errors of `LispRunner.run`.
   */
  async recordedName(): Promise<string | undefined> {
    return this.#recorded();
  }

  /**
   * What agents do in the image now, including those of other clients and versions, oldest first. Loads nothing into the image.
   *
   * @throws SwankError the errors of `LispRunner.run`.
   */
  async running(): Promise<readonly RunningCall[]> {
    return this.#lisp.run(runningCalls);
  }

  /**
   * Follows what agents do in the image, those of all clients and versions, as the user's Emacs does. It goes on until `end` is called or the
   * connection ends, which no event tells. Loads nothing into the image, and may begin before any agent has come. A client follows once at a time.
   *
   * @param listener - Called with each event after the ledger.
   * @throws SwankError `INVALID_ARGUMENT`, also if this client follows agents already; the errors of `LispRunner.run`.
   */
  async follow(options: FollowAgentsOptions, listener: (event: AgentEvent) => void): Promise<FollowedAgents> {
    checkOptions("follow", options, followOptions);
    checkListener("A listener", listener);
    if (this.#follower?.isOpen)
      throw new SwankError("INVALID_ARGUMENT", "This client follows the image's agents already.");
    const follower = new AgentFollower(this.#lisp, this.#connection, options, listener);
    this.#follower = follower;
    return { ledger: await follower.begin(), end: () => follower.end() };
  }

  /**
   * Answers a question of an agent for the user.
   *
   * @param question - Its number, as `follow` tells it.
   * @returns whether the answer counts: it is the first one, and the question has not ended. Always false for `pass`.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async answer(question: number, answer: QuestionAnswer): Promise<boolean> {
    return this.#lisp.run(answerQuestion, check.id("question", question), checkAnswer("answer", answer));
  }

  /**
   * Asks agents to look at something: each one's client gets the event `userAsks`.
   *
   * @param agent - The name of one, `undefined` for all.
   * @param place - What it is about, e.g. `12/1, frame 2` for a stop.
   * @returns the names of the agents that get it.
   * @throws SwankError as for `answer`.
   */
  async tell(agent: string | undefined, text: string, place?: string): Promise<readonly string[]> {
    if (agent !== undefined) check.text("agent", agent);
    if (place !== undefined) check.text("place", place);
    return this.#lisp.run(askAgents, agent, check.text("text", text), place);
  }

  /**
   * Asks an agent to wait, or to go on: its client gets the event `paused`. What it runs is not interrupted.
   *
   * @returns whether there is such an agent; false also for one whose runtime has an older version without pauses.
   * @throws SwankError as for `answer`.
   */
  async pause(agent: string, isPaused: boolean): Promise<boolean> {
    return this.#lisp.run(pauseAgent, check.text("agent", agent), check.flag("isPaused", isPaused));
  }

  /**
   * Throws agents out: ends all that they run and have stopped, and closes their connections; `closed` of their clients tells why. One agent
   * can come back, because the port is open. All means every client of this library except this one and those that follow agents; the
   * ports that they came through are then closed.
   *
   * @param agent - The name of one. Default: all.
   * @returns for one, `undefined` if there is no such agent, or if its runtime has an older version that can only throw out all.
   * @throws SwankError as for `answer`.
   */
  kick(agent: string): Promise<AgentFate | undefined>;
  kick(agent?: undefined): Promise<KickedAgents>;
  async kick(agent?: string): Promise<AgentFate | KickedAgents | undefined> {
    if (agent === undefined) return this.#lisp.run(kickAll);
    return this.#lisp.run(kickAgent, check.text("agent", agent));
  }

  /**
   * Records that the agent's user is being asked.
   *
   * @param text - The question as Lisp code and comments.
   * @returns the number of the question, for `noteAnswer`; `undefined` if the image records nothing of this client.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async noteQuestion(text: string): Promise<number | undefined> {
    check.text("text", text);
    return this.#isNamed ? this.#lisp.run(noteQuestion, text) : undefined;
  }

  /**
   * Records the answer to a question.
   *
   * @param text - Who has answered, and how.
   * @throws SwankError as for `noteQuestion`.
   */
  async noteAnswer(question: number, isAllowed: boolean, text: string): Promise<void> {
    check.id("question", question);
    check.text("text", text);
    if (this.#isNamed) await this.#lisp.run(noteAnswer, question, isAllowed, text);
  }

  /**
   * Ends a question of `askUser` with a `key` that the user has answered in the agent's own client: `askUser` gives that answer, and the
   * others who were asked are told. If somebody else was faster, that answer stays.
   *
   * @param key - That of the question.
   * @returns the answer that counts; `nobody` if the image does not have the question, or it ended without an answer.
   * @throws SwankError as for `noteQuestion`.
   */
  async settle(key: string, answer: SettledAnswer): Promise<UserReply> {
    check.text("key", key);
    checkSettled("answer", answer);
    return this.#isNamed ? this.#lisp.run(settleQuestion, key, answer) : { answer: "nobody" };
  }

  /**
   * Records a call that was refused before the image got it.
   *
   * @throws SwankError as for `noteQuestion`.
   */
  async noteRefusal(call: RefusedCall): Promise<void> {
    if (this.#isNamed) await this.#lisp.run(noteRefusal, call);
  }
}

/** An action that a user of the image may allow or refuse in Emacs. */
export interface UserQuestion {
  /** A verb phrase, e.g. `evaluate code in frame #2`. */
  readonly action: string;
  /** The details, e.g. `Code` and the code. */
  readonly particulars: readonly (readonly [label: string, text: string])[];
  /** Where the action would happen, in lines. */
  readonly circumstances: readonly string[];
  /** The stop that the action is about: the user can allow the action for all of it, and the question ends with it. */
  readonly stop?: { readonly thread: number; readonly level: number } | undefined;
  /** Seconds that the user has. */
  readonly seconds: number;
  /**
   * Names the question for `settle`, as no other question is named. It is then also there for who begins to listen later, so that it is never
   * answered by `nobody`.
   */
  readonly key?: string | undefined;
}

/**
 * A user's answer; `stop` is a yes for the whole stop. `stop-gone`: the stop ended first. `unanswered`: the time was up. `nobody`: nobody that
 * asks questions is connected, or not any more.
 */
export type UserAnswer = SettledAnswer | "stop-gone" | "unanswered" | "nobody";

/** The end of a question to the user. */
export interface UserReply {
  readonly answer: UserAnswer;
  /** Where the user has answered, if that is the answer of a user. */
  readonly place?: AnswerPlace;
}

function unanswered(answer: UserAnswer): Decoder<UserReply> {
  return nothing(() => ({ answer }));
}

const userReply: Decoder<UserReply> = tagged({
  answered: record({ answer: keywordOf(ANSWERS), place: keywordOf(ANSWER_PLACES) }),
  "stop-gone": unanswered("stop-gone"),
  unanswered: unanswered("unanswered"),
  nobody: unanswered("nobody"),
});

function listOf(items: readonly Sexp[]): Sexp {
  return items.length === 0 ? NIL : listForm(...items);
}

/** Whether `askUser` would ask somewhere. */
export const userReachable = lispFunction({
  name: "user-reachable-p",
  module: "emacs",
  encode: () => [],
  decode: boolean,
  label: () => "looking for a user who can be asked",
});

/** Asks the user in each Emacs that has swank-mcp.el, and by each program that follows with questions (lisp/emacs/questions.lisp). */
export const askUser = lispFunction({
  name: "ask-user",
  module: "emacs",
  encode: ({ action, particulars, circumstances, stop, seconds, key }: UserQuestion) => [
    action,
    quote(listOf(particulars.map(([label, text]) => listForm(label, text)))),
    quote(listOf(circumstances)),
    stop === undefined ? NIL : quote(listForm(stop.thread, stop.level)),
    seconds,
    ...keywordForms({ key }),
  ],
  decode: userReply,
  label: () => "asking the user",
});

/** Milliseconds that an image has to say which answer counts: the agent waits for it. */
const SETTLE_TIME = 3000;

/** Ends a question that the user has answered elsewhere. Gives the answer that counts (lisp/emacs/questions.lisp). */
const settleQuestion = lispFunction({
  name: "settle-question",
  module: "emacs",
  encode: (key: string, answer: SettledAnswer) => forms(key, keyword(answer)),
  decode: userReply,
  timeout: SETTLE_TIME,
  label: () => "withdrawing a question",
});

const request = plist({
  text: string,
  /** What the user had before them, e.g. `12/1, frame 2` for a stop, or a file with its line; `undefined` if it is not about a place. */
  place: nullable(string),
});

/** Something that a user of the image asks the agent to look at, in Emacs with swank-mcp.el. */
export interface UserRequest extends Decoded<typeof request> {}

/** `(:user-asks PLIST)`, the target of a message of lisp/emacs/questions.lisp. */
export const userAsks = tagged({ "user-asks": map(tuple(request), ([asked]): UserRequest => asked) });

/** `(:kicked)` or `(:kicked :alone)`, the target of a message of lisp/emacs/steering.lisp, as the reason for which the connection ends. */
export const kick = tagged({
  kicked: map(record({ how: optional(keywordOf(["alone"])) }), ({ how }) => {
    const message =
      how === "alone"
        ? "The user has disconnected this agent."
        : "The user has disconnected all agents, with M-x swank-mcp-kick in Emacs.";
    return new SwankError("CONNECTION_LOST", message, { details: { kicked: how ?? true } });
  }),
});

/** `(:paused BOOLEAN)`, the target of a message of lisp/emacs/steering.lisp. */
export const pause = tagged({ paused: map(tuple(boolean), ([isPaused]): AgentPause => ({ isPaused })) });

/** The user wants the agent to wait, or no longer. */
export interface AgentPause {
  readonly isPaused: boolean;
}

/**
 * Names this client's agent, whose activity the image records from now on for the user's Emacs (lisp/emacs/listeners.lisp). Gives the name
 * that Emacs shows, with a number if another agent has the same name.
 */
export const introduce = lispFunction({
  name: "introduce",
  module: "emacs",
  encode: (name: string) => [name],
  decode: string,
  label: () => "introducing the agent",
});

/**
 * `(:load-module :changes)`, the target of a message of lisp/emacs/steering.lisp: the user's Emacs has a question that needs a module of the
 * runtime, which only a client of this library can load.
 */
export const wantedModule = tagged({
  "load-module": map(tuple(keywordOf(["changes"])), ([module]) => module),
});
