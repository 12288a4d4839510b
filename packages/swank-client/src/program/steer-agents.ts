import { decode, keyword, NIL, T } from "sexp-parser";
import { forms, keywordOf, lispFunction } from "../runtime/function.js";
import { answersOf, requestForm } from "./agent-requests.js";

const { boolean, integer, list, map, nullable, plist, string } = decode;

/** Milliseconds that the image has to do it. Those of the agents' evaluations that do not end are killed after some seconds, without a wait here. */
const STEERING_TIME = 10_000;

/** `pass`: the user cannot be asked here, and the question stays open for others. `stop` is a yes for the whole stop. */
export const QUESTION_ANSWERS = ["yes", "no", "stop", "pass"] as const;

/** An answer to a question of an agent. */
export type QuestionAnswer = (typeof QUESTION_ANSWERS)[number];

const anyTrue = map(answersOf(boolean), (answers) => answers.includes(true));

/** Answers a question. Gives whether the answer counts (lisp/emacs/questions.lisp). */
export const answerQuestion = lispFunction({
  name: "cl:identity",
  label: () => "answering an agent's question",
  encode: (number: number, answer: QuestionAnswer) => [requestForm("answer", number, keyword(answer))],
  decode: anyTrue,
  timeout: STEERING_TIME,
});

/** Asks agents to look at something. Gives the names of those that will read it. */
export const askAgents = lispFunction({
  name: "cl:identity",
  label: () => "telling agents something",
  encode: (agent: string | undefined, text: string, place: string | undefined) => [
    requestForm("ask-agents", ...forms(agent, text, place)),
  ],
  decode: map(answersOf(list(string)), (names) => names.flat()),
  timeout: STEERING_TIME,
});

/** Tells the client of an agent that it is to wait, or no longer. Gives whether there is such an agent. */
export const pauseAgent = lispFunction({
  name: "cl:identity",
  label: () => "pausing an agent",
  encode: (agent: string, isPaused: boolean) => [requestForm("pause", agent, isPaused ? T : NIL)],
  decode: anyTrue,
  timeout: STEERING_TIME,
});

const AGENT_FATES = ["kicked", "stayed"] as const;

/**
 * What became of an agent that was to be thrown out. `stayed`: what it ran has ended, but its connection is open, because the image that it
 * has launched would end with it.
 */
export type AgentFate = (typeof AGENT_FATES)[number];

/** Throws one agent out. Gives what became of it, `undefined` if there is no such agent. */
export const kickAgent = lispFunction({
  name: "cl:identity",
  label: () => "disconnecting an agent",
  encode: (agent: string) => [requestForm("kick-agent", agent)],
  decode: map(answersOf(nullable(keywordOf(AGENT_FATES))), (fates) => fates.find((fate) => fate !== undefined)),
  timeout: STEERING_TIME,
});

const kicked = plist({ kicked: integer, stayed: integer, ports: list(integer) });

/** What came of throwing all agents out. */
export interface KickedAgents {
  /** Number of agents that were disconnected. */
  readonly kicked: number;
  /** Number of those that stay, because the image that they have launched would end with them. What they ran has ended. */
  readonly stayed: number;
  /** The ports that they came through, which are closed. */
  readonly ports: readonly number[];
}

/** Throws all agents out. Each version of the runtime counts those of all versions. */
export const kickAll = lispFunction({
  name: "cl:identity",
  label: () => "disconnecting all agents",
  encode: () => [requestForm("kick")],
  decode: map(
    answersOf(kicked),
    (answers): KickedAgents => ({
      kicked: Math.max(0, ...answers.map((answer) => answer.kicked)),
      stayed: Math.max(0, ...answers.map((answer) => answer.stayed)),
      ports: [...new Set(answers.flatMap(({ ports }) => ports))],
    }),
  ),
  timeout: STEERING_TIME,
});
