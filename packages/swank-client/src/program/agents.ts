import { type Decoded, decode, list as listForm, NIL, quote, type Sexp } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check } from "../base/options.js";
import { forms, keywordOf, lispFunction, nothing } from "../runtime/function.js";
import type { LispRunner } from "../runtime/runner.js";
import { ownCode } from "../wire/sent.js";

const { any, boolean, integer, list, map, nullable, plist, record, string, tagged, tuple } = decode;

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
  readonly #isNamed: boolean;

  constructor(lisp: LispRunner, isNamed: boolean) {
    this.#lisp = lisp;
    this.#isNamed = isNamed;
  }

  /** Whether the image records what this client does. */
  get isRecorded(): boolean {
    return this.#isNamed;
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
}

const ANSWERS = ["yes", "no", "stop"] as const;

const userAnswer = tagged({
  answered: map(tuple(keywordOf(ANSWERS)), ([answer]) => answer),
  "stop-gone": nothing(() => "stop-gone" as const),
  unanswered: nothing(() => "unanswered" as const),
  nobody: nothing(() => "nobody" as const),
});

/**
 * A user's answer; `stop` is a yes for the whole stop. `stop-gone`: the stop ended first. `unanswered`: the time was up. `nobody`: no Emacs
 * that asks questions is connected, or none is left.
 */
export type UserAnswer = Decoded<typeof userAnswer>;

function listOf(items: readonly Sexp[]): Sexp {
  return items.length === 0 ? NIL : listForm(...items);
}

/** Whether `askUser` would ask in an Emacs. */
export const userReachable = lispFunction({
  name: "user-reachable-p",
  module: "emacs",
  encode: () => [],
  decode: boolean,
  label: () => "looking for an Emacs that asks",
});

/** Asks the user in each Emacs that has swank-mcp.el (lisp/emacs/questions.lisp). The first answer counts. */
export const askUser = lispFunction({
  name: "ask-user",
  module: "emacs",
  encode: ({ action, particulars, circumstances, stop, seconds }: UserQuestion) => [
    action,
    quote(listOf(particulars.map(([label, text]) => listForm(label, text)))),
    quote(listOf(circumstances)),
    stop === undefined ? NIL : quote(listForm(stop.thread, stop.level)),
    seconds,
  ],
  decode: userAnswer,
  label: () => "asking the user in Emacs",
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

/** `(:kicked)`, the target of a message of lisp/emacs/steering.lisp, as the reason for which the connection ends. */
export const kick = tagged({
  kicked: nothing(() => {
    const message = "The user has disconnected all agents, with M-x swank-mcp-kick in Emacs.";
    return new SwankError("CONNECTION_LOST", message, { details: { kicked: true } });
  }),
});

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
