import { SwankError, type types } from "swank-client";
import { type ToolAnswer, type ToolGuide, withNotices } from "../base/answer.js";
import { settledWithin } from "../base/lifetime.js";
import type { OnDefect } from "../base/log.js";
import { explainError, isDefect, Refusal } from "../base/refusals.js";
import type { AgentSession } from "../session/agent.js";
import { type Ask, imageAsker } from "../session/approval-places.js";
import type { ApprovalRequest } from "../session/approval-prompt.js";
import type { ThreadOwner } from "../session/approvals.js";
import { explainHang, isUnanswered, refuseIfHung, watchForSilence } from "../session/hung-image.js";
import type { LispSession } from "../session/image.js";
import { thrownOut } from "../session/steering.js";
import { nearest, shown } from "../text/cut.js";
import type { CallEntries, RecordedCall } from "./recorder.js";
import { type Approve, readOnlyRefusal, type Tool, type ToolContext, timeoutRemarks } from "./tool.js";

/** The mark that Lisp writes, with the class's whole name, for an object whose printing it gave up (lisp/printing/values.lisp). */
const MARK = /#<a (?:\S*:\S+|OBJECT) takes too long to print>/;

/** A Lisp string on one line: a mark in it is the program's own text. */
const STRING = /"(?:[^"\\\n]|\\.)*"/g;

/** What to do about objects in a text answer that were not printed in time; nothing if all were. Data of JSON tools have a fixed shape. */
function slowPrintingRemarks({ blocks, structured }: ToolAnswer, guide: ToolGuide): string[] {
  if (structured !== undefined || !blocks.some((text) => MARK.test(text.replace(STRING, "")))) return [];
  const remark = guide.advise(
    "Printing stops after 2 s for one answer. inspect-object shows the parts of an object, by its id or code, before it prints the object itself. evaluate-lisp prints for as long as its timeout allows. If a print-object method never returns, correct it.",
  );
  return remark === "" ? [] : [remark];
}

/** A call from the client, not yet checked. */
export interface ToolCall extends RecordedCall {
  readonly signal: AbortSignal;
  /** Aborted when the user interrupts the call: an evaluation then pauses in the debugger, any other wait is cancelled. */
  readonly interrupt?: AbortSignal | undefined;
  /** Called with an evaluation's output and its stream or, without a stream, with a text about the current wait. */
  progress(text: string, stream?: types.OutputStream): void;
  readonly ask?: Ask | undefined;
  readonly entries?: CallEntries | undefined;
}

export interface ToolHost {
  readonly tools: readonly Tool[];
  readonly withheld: readonly string[];
  readonly guide: ToolGuide;
  readonly agent: AgentSession;
  readonly onDefect: OnDefect;
}

/** Runs a tool. Never rejects: every error becomes an answer that says what to do. */
export async function runTool(host: ToolHost, call: ToolCall): Promise<ToolAnswer> {
  const { steering } = host.agent;
  try {
    if (steering.state !== "free") await steering.admit({ signal: waitSignal(call), progress: call.progress });
    const tool = findTool(host, call.name);
    return await answer(host, call, tool, tool.prepare(call.args));
  } catch (error) {
    if (error instanceof Refusal && error.code === "READ_ONLY") host.agent.record.refused(call.name, call.args, error);
    return refusalAnswer(host, error);
  }
}

/** Ends every wait of a call but that for its evaluation. */
function waitSignal({ signal, interrupt }: ToolCall): AbortSignal {
  return interrupt === undefined ? signal : AbortSignal.any([signal, interrupt]);
}

/** The answer that explains an error. A defect is also reported to the host. */
export function refusalAnswer({ guide, onDefect }: ToolHost, error: unknown): ToolAnswer {
  if (isDefect(error)) onDefect(error);
  return explainError(error, guide);
}

async function answer(
  { agent, guide }: ToolHost,
  call: ToolCall,
  { annotations, name, needs }: Tool,
  run: ReturnType<Tool["prepare"]>,
) {
  let usedLisp = false;
  let used: LispSession | undefined;
  let watched: LispSession | undefined;
  const { signal: cancelled } = call;
  const signal = waitSignal(call);
  const context: ToolContext = {
    signal,
    cancelled,
    config: agent.config,
    agent,
    guide,
    session: async ({ evenIfHung = false } = {}) => {
      usedLisp = true;
      used = await agent.host.session(signal, (reason) => call.progress(reason));
      if (agent.steering.state === "out") throw thrownOut();
      if (needs !== undefined) used.client.abilities.require(needs, name);
      if (evenIfHung) return used;
      await refuseIfHung(used);
      watched = used;
      return used;
    },
    renew: (session) => {
      usedLisp = true;
      return agent.host.renew(session, signal);
    },
    progress: (text, stream) => call.progress(text, stream),
    recordOutput: (text, stream) => call.entries?.output(text, stream),
    recordEnd: (...ended) => call.entries?.ended(...ended),
  };
  const approve: Approve = async (request) => {
    // What the user allows is still no reading.
    if (agent.config.readOnly) throw readOnlyRefusal(String(call.name));
    const progress = (text: string) => call.progress(text);
    const image = used && imageAsker(used.client);
    const owner = used && (await ownerOf(request, agent, used));
    const { ask, entries: watch } = call;
    const ending = AbortSignal.any([signal, agent.steering.ended]);
    await agent.approvals.require(request, { ask, image, owner, signal: ending, progress, watch });
  };
  const { readOnlyHint: onlyReads } = annotations;
  const attempt = () => {
    const watch = watchForSilence(() => watched);
    const running = run(context, approve);
    // A call that only reads can be given up at once. Any other has its own time.
    return (onlyReads ? Promise.race([running, watch.silent]) : running).finally(watch.end);
  };
  const onDeadConnection = async (error: unknown) => {
    if (!onlyReads || used?.check?.hasAbandoned !== true) throw error;
    return attempt();
  };
  const given = await attempt()
    .catch(onDeadConnection)
    .catch(async (error: unknown) => {
      const gone = "The session was reset while the call ran; its effects are gone.";
      if (used?.isRetired === true) throw new Refusal("SESSION_RESET", gone, { cause: error });
      // Only a timeout may mean that the image hangs. Any other error is thrown at once, without waiting for an image being launched.
      if (!isUnanswered(error)) throw error;
      const session = used ?? (await agent.host.current().catch(() => undefined));
      throw session === undefined ? error : await explainHang(error, session, signal);
    });
  // An answer that did not use Lisp gets no notices, so that repeating the call gives the same answer.
  if (!usedLisp) return given;
  const remarks = [...timeoutRemarks(call.args), ...slowPrintingRemarks(given, guide)];
  return withNotices(given, [...remarks, ...agent.takeNotices(guide)]);
}

/** The other agent of this server whose thread the request is about, if there is one. */
async function ownerOf(
  request: ApprovalRequest,
  agent: AgentSession,
  session: LispSession,
): Promise<ThreadOwner | undefined> {
  const owner = await agent.neighbours.ownerOf(request, agent, session);
  if (owner === undefined) return undefined;
  return { name: owner.name.text, approvals: owner.approvals, ask: owner.askUser, asking: agent.name.text };
}

function findTool({ tools, withheld, guide }: ToolHost, name: unknown): Tool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return tool;
  if (typeof name === "string" && withheld.includes(name)) throw readOnlyRefusal(name);
  const names = tools.map((candidate) => candidate.name).filter((each) => guide.offers(each));
  if (typeof name !== "string") {
    const given = name === undefined ? "is missing" : `must be a string, not ${shown(name)}`;
    throw new Refusal("INVALID_ARGUMENTS", `The tool's "name" ${given}.`, {
      remedy: `Call one of: ${names.join(", ")}.`,
    });
  }
  const meant = nearest(name, names);
  throw new Refusal("UNKNOWN_TOOL", `There is no tool ${shown(name)}.`, {
    remedy: meant === undefined ? `Call one of: ${names.join(", ")}.` : `Did you mean ${meant}?`,
  });
}

/**
 * What an evaluation needs in the image before it begins, within the time of its call.
 *
 * @throws SwankError `REQUEST_TIMEOUT`. The preparation continues, so that a later call may find it done.
 */
export async function preparedWithin<T>(seconds: number, preparation: Promise<T>): Promise<T> {
  const prepared = await settledWithin(seconds * 1000, preparation);
  if (prepared !== undefined) return prepared.value;
  const message = `Nothing was run: what this tool needs in the image was not loaded within ${seconds} s.`;
  throw new SwankError("REQUEST_TIMEOUT", message, { remedy: "Call again, with more time." });
}
