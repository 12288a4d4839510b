import type { ToolGuide } from "../base/answer.js";
import { settledWithin } from "../base/lifetime.js";
import { lastErrorText, NO_ERROR, packageLine } from "../report/stop.js";
import { stopsText } from "../report/stops-text.js";
import type { AgentSession } from "../session/agent.js";
import type { LispSession } from "../session/image.js";
import type { Readable } from "../session/readable-changes.js";
import { definitionsBlocks } from "./list-definitions.js";

/** Milliseconds that the image has to answer. */
const ANSWER_TIME = 5000;

const NO_IMAGE = "There is no Lisp image: nothing has needed one yet, or it has ended.";

const UNANSWERED = "The image does not answer.";

/** The text that a client reads. Changes nothing, launches no image, and asks nobody. */
export function readText(what: Readable, agent: AgentSession, guide: ToolGuide): Promise<string> {
  switch (what) {
    case "stops":
      return withImage(agent, (session) => stopsIn(session, agent, guide));
    case "last-error":
      return Promise.resolve(errorText(agent, guide));
    case "definitions":
      return withImage(agent, definitionsIn);
  }
}

/** The error is kept after its image. */
function errorText({ lastError }: AgentSession, guide: ToolGuide): string {
  const error = lastError.current;
  return error === undefined ? NO_ERROR : [lastErrorText(error, guide), ...packageLine(error)].join("\n\n");
}

async function withImage({ host }: AgentSession, read: (session: LispSession) => Promise<string>): Promise<string> {
  const { state } = host;
  if (state.kind === "open") return read(state.session);
  return state.kind === "connecting" ? "The Lisp image is not ready yet." : NO_IMAGE;
}

/** The stops of this agent and, if the image answers, of others. */
async function stopsIn(session: LispSession, agent: AgentSession, guide: ToolGuide): Promise<string> {
  const own = agent.stopsIn(session).filter(({ isLive }) => isLive);
  const others = await answered(session.client.foreignStops());
  if (others === undefined)
    return [stopsText(own, guide), `${UNANSWERED} Other clients' stops are not known.`].join("\n\n");
  return stopsText([...others, ...own], guide);
}

async function definitionsIn({ client }: LispSession): Promise<string> {
  const all = await answered(client.definitions());
  return all === undefined
    ? `${UNANSWERED} What it has defined is not known.`
    : definitionsBlocks(all, undefined).join("\n\n");
}

/** `undefined` if the image does not answer in time, or its connection ends. */
async function answered<T>(answer: Promise<T>): Promise<T | undefined> {
  return (await settledWithin(ANSWER_TIME, answer).catch(() => undefined))?.value;
}
