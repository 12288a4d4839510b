import type { Approvals } from "./approvals.js";
import { argumentsRefusal } from "./argument-errors.js";
import type { Config } from "./config.js";
import type { OnDefect } from "./defects.js";
import type { Ask } from "./elicitation.js";
import { explainError, isDefect } from "./explain-error.js";
import { shown } from "./format/shown.js";
import { explainHang, isSilence } from "./hung-image.js";
import type { LastError } from "./last-error.js";
import type { LispContext } from "./lisp-context.js";
import type { OutputStream } from "./lisp-port.js";
import type { LispSession } from "./lisp-session.js";
import { nearest } from "./nearest.js";
import type { Notices } from "./notices.js";
import type { OutputRelay } from "./output-relay.js";
import { Refusal } from "./refusal.js";
import type { StopKeeper } from "./stop-keeper.js";
import type { Tool, ToolContext } from "./tool.js";
import type { ToolAnswer } from "./tool-answer.js";

/** One call as the client made it. */
export interface ToolCall {
  /** A tool's name, if the client does it right. */
  readonly name: unknown;
  readonly args: unknown;
  readonly signal: AbortSignal;
  /** Aborted when the person at the keyboard breaks in: an evaluation is then stopped where it is, anything else is given up. */
  readonly interrupt?: AbortSignal | undefined;
  /** Told what an evaluation prints as it comes, with its stream; or, without one, what is waited for. */
  progress(text: string, stream?: OutputStream): void;
  /** Asks the user; absent when the client has no way to. */
  readonly ask?: Ask | undefined;
}

/** What the tools of one server share. */
export interface ToolHost {
  readonly tools: readonly Tool[];
  readonly config: Config;
  readonly lisp: LispContext;
  readonly lastError: LastError;
  readonly stops: StopKeeper;
  readonly notices: Notices;
  readonly outputs: OutputRelay;
  readonly approvals: Approvals;
  readonly onDefect: OnDefect;
}

/** Runs a tool. The only way to run one: whatever goes wrong becomes an answer that says what to do. */
export async function runTool(host: ToolHost, call: ToolCall): Promise<ToolAnswer> {
  try {
    const tool = findTool(host.tools, call.name);
    const args = call.args === undefined ? {} : call.args;
    const prepared = tool.prepare(args);
    if (!prepared.ok) throw argumentsRefusal(tool, args, prepared.issues);
    return await answer(host, call, (context) => prepared.run(context));
  } catch (error) {
    if (isDefect(error)) host.onDefect(error);
    return explainError(error);
  }
}

async function answer(host: ToolHost, call: ToolCall, run: (context: ToolContext) => Promise<ToolAnswer>) {
  let usedLisp = false;
  let used: LispSession | undefined;
  const signal = AbortSignal.any([call.signal, call.interrupt ?? call.signal]);
  const context: ToolContext = {
    signal,
    cancelled: call.signal,
    config: host.config,
    lastError: host.lastError,
    stops: host.stops,
    outputs: host.outputs,
    approvals: host.approvals,
    approve: (request) =>
      host.approvals.require(request, { ask: call.ask, signal, progress: (text) => call.progress(text) }),
    session: async () => {
      usedLisp = true;
      used = await host.lisp.session(signal);
      return used;
    },
    currentSession: () => host.lisp.current(call.signal),
    lastLoss: () => host.lisp.loss(),
    renew: (session) => {
      usedLisp = true;
      return host.lisp.renew(session, signal);
    },
    progress: (text, stream) => call.progress(text, stream),
  };
  const given = await run(context).catch(async (error: unknown) => {
    if (used?.isRetired === true) throw sessionReset(error);
    // A refusal must not wait for an image that another call is launching.
    if (!isSilence(error)) throw error;
    const session = used ?? (await host.lisp.current().catch(() => undefined));
    throw session === undefined ? error : await explainHang(error, session, signal);
  });
  // Answers that come from what is stored stay the same however often they are asked for.
  return usedLisp ? withNotices(given, host.notices) : given;
}

/** What went wrong because the image was replaced under the call. */
function sessionReset(cause: unknown): Refusal {
  return new Refusal("SESSION_RESET", "The session was reset meanwhile; nothing of this call is left.", { cause });
}

function withNotices(given: ToolAnswer, notices: Notices): ToolAnswer {
  const taken = notices.take();
  return taken.length === 0 ? given : { ...given, blocks: [...given.blocks, taken.join("\n")] };
}

function findTool(tools: readonly Tool[], name: unknown): Tool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return tool;
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
