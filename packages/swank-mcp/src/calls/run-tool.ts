import type { AgentSession } from "../agent/agent-session.js";
import type { ApprovalWatch } from "../agent/approval-watch.js";
import type { Ask } from "../agent/elicitation.js";
import { askThroughImage } from "../agent/emacs-question.js";
import { explainHang, isUnanswered, refuseIfHung, watchForSilence } from "../image/hung-image.js";
import type { OutputStream } from "../image/lisp-port.js";
import type { LispSession } from "../image/lisp-session.js";
import type { OnDefect } from "../process/defects.js";
import { explainError, isDefect } from "../refusals/explain-error.js";
import { Refusal } from "../refusals/refusal.js";
import { nearest } from "../text/nearest.js";
import { shown } from "../text/shown.js";
import { type ToolAnswer, withBoundedMeta, withNotices } from "../text/tool-answer.js";
import type { ToolGuide } from "../text/tool-guide.js";
import { argumentsRefusal } from "./argument-errors.js";
import { timeoutRemarks } from "./stop-inputs.js";
import { readOnlyRefusal, type Tool } from "./tool.js";
import type { Approve, ToolContext } from "./tool-context.js";

/** A call from the client, not yet checked. */
export interface ToolCall {
  /** A tool's name, if the call is correct. */
  readonly name: unknown;
  readonly args: unknown;
  readonly signal: AbortSignal;
  /** Aborted when the user interrupts the call: an evaluation then pauses in the debugger, any other wait is cancelled. */
  readonly interrupt?: AbortSignal | undefined;
  /** Called with an evaluation's output and its stream or, without a stream, with a text about the current wait. */
  progress(text: string, stream?: OutputStream): void;
  /** Asks the user; absent when the client cannot. */
  readonly ask?: Ask | undefined;
  /** Learns of the call's approvals. */
  readonly watch?: ApprovalWatch | undefined;
}

/** The client that calls, and its tools. */
export interface ToolHost {
  readonly tools: readonly Tool[];
  /** Names of the tools that --read-only switches off. */
  readonly withheld: readonly string[];
  readonly guide: ToolGuide;
  readonly agent: AgentSession;
  readonly onDefect: OnDefect;
}

/** Runs a tool. Never rejects: every error becomes an answer that says what to do. */
export async function runTool(host: ToolHost, call: ToolCall): Promise<ToolAnswer> {
  try {
    const tool = findTool(host, call.name);
    const prepared = tool.prepare(call.args);
    if (!prepared.ok) throw argumentsRefusal(tool, prepared.read, prepared.issues);
    return await answer(host, call, tool, (context, approve) => prepared.run(context, approve));
  } catch (error) {
    if (error instanceof Refusal && error.code === "READ_ONLY") host.agent.record.refused(call.name, call.args, error);
    return refusalAnswer(host, error);
  }
}

/** The answer that explains an error. A defect is also reported to the host. */
export function refusalAnswer({ guide, onDefect }: ToolHost, error: unknown): ToolAnswer {
  if (isDefect(error)) onDefect(error);
  return explainError(error, guide);
}

async function answer(
  { agent, guide }: ToolHost,
  call: ToolCall,
  { annotations }: Tool,
  run: (context: ToolContext, approve: Approve) => Promise<ToolAnswer>,
) {
  let usedLisp = false;
  let used: LispSession | undefined;
  let watched: LispSession | undefined;
  const { signal: cancelled, interrupt } = call;
  const signal = interrupt === undefined ? cancelled : AbortSignal.any([cancelled, interrupt]);
  const context: ToolContext = {
    signal,
    cancelled,
    config: agent.config,
    agent,
    guide,
    session: async ({ evenIfHung = false } = {}) => {
      usedLisp = true;
      used = await agent.host.session(signal, (reason) => call.progress(reason));
      if (evenIfHung) return used;
      await refuseIfHung(used);
      watched = used;
      return used;
    },
    currentSession: () => agent.host.current(call.signal),
    lastLoss: () => agent.host.loss(),
    renew: (session) => {
      usedLisp = true;
      return agent.host.renew(session, signal);
    },
    progress: (text, stream) => call.progress(text, stream),
  };
  const approve: Approve = async (request) => {
    // What the user allows is still no reading.
    if (agent.config.readOnly) throw readOnlyRefusal(String(call.name));
    const progress = (text: string) => call.progress(text);
    const askInEmacs = used && askThroughImage(used.client);
    await agent.approvals.require(request, { ask: call.ask, askInEmacs, signal, progress, watch: call.watch });
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
      if (used?.isRetired === true) throw sessionReset(error);
      // Only a timeout may mean that the image hangs. Any other error is thrown at once, without waiting for an image being launched.
      if (!isUnanswered(error)) throw error;
      const session = used ?? (await agent.host.current().catch(() => undefined));
      throw session === undefined ? error : await explainHang(error, session, signal);
    });
  // An answer that did not use Lisp gets no notices, so that repeating the call gives the same answer.
  const bounded = withBoundedMeta(given);
  return usedLisp ? withNotices(bounded, [...timeoutRemarks(call.args), ...agent.notices.take(guide)]) : bounded;
}

/** The refusal of a call whose image was replaced while it ran. */
function sessionReset(cause: unknown): Refusal {
  return new Refusal("SESSION_RESET", "The session was reset while the call ran; its effects are gone.", { cause });
}

function findTool({ tools, withheld }: ToolHost, name: unknown): Tool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return tool;
  if (typeof name === "string" && withheld.includes(name)) throw readOnlyRefusal(name);
  const names = tools.map((candidate) => candidate.name);
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
