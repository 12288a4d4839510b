import type { AgentSession } from "../../agent/agent-session.js";
import type { RunningCall } from "../../image/lisp-port.js";
import type { LispSession } from "../../image/lisp-session.js";
import { cutName, oneLine } from "../../text/cut.js";

/** Most characters of a line of code. */
const MAX_LINE = 60;
/** Most calls in the list. */
const MAX_LISTED = 20;

/** What the agents of the image run now, as far as the image's record has those of others. Own stops are listed elsewhere. */
export function runningData(agent: AgentSession, session: LispSession, recorded: readonly RunningCall[]) {
  const own = ownRunning(agent, session);
  const others = recorded.filter((call) => !isListed(call, own)).map(recordedData);
  const all = [...own, ...others];
  if (all.length === 0) return {};
  const left = all.length - MAX_LISTED;
  return { running: all.slice(0, MAX_LISTED), ...(left > 0 ? { running_left_out: left } : {}) };
}

/**
 * The calls that the image's record has. An image that nobody else can see has no record.
 *
 * @throws SwankError `REQUEST_TIMEOUT`, or the reason of a closed connection.
 */
export async function recordedCalls({ client, origin }: LispSession): Promise<readonly RunningCall[]> {
  return origin.kind === "attached" || origin.shared !== undefined ? client.activity.running() : [];
}

type OwnRunning = ReturnType<typeof ownRunning>;

function ownRunning({ evaluations, stops, name }: AgentSession, { client }: LispSession) {
  const stopped = stops.live.map(({ thread }) => thread);
  return client.evaluations.flatMap((evaluation) => {
    const begun = evaluations.codeOf(evaluation);
    const { thread } = evaluation;
    if (begun === undefined || (thread !== undefined && stopped.includes(thread))) return [];
    return [
      { agent: cutName(name.text), mine: true, thread, code: firstLine(begun.code), since: timeText(begun.since) },
    ];
  });
}

/** Whether the list has the call already: as an own one, or as a stop. */
function isListed({ isMine, state, thread, code }: RunningCall, own: OwnRunning): boolean {
  if (!isMine) return false;
  return state === "stopped" || own.some((each) => each.thread === thread || each.code === firstLine(code));
}

function recordedData({ agent, thread, operation, code, begun, state, isMine }: RunningCall) {
  return {
    agent: cutName(agent),
    ...(isMine ? { mine: true } : {}),
    ...(thread === undefined ? {} : { thread }),
    ...(operation === "evaluate" ? {} : { operation: cutName(operation) }),
    code: firstLine(code),
    since: timeText(begun),
    ...(state === "running" ? {} : { state }),
  };
}

function firstLine(code: string): string {
  return oneLine(code.trimStart().split("\n", 1)[0] ?? "", MAX_LINE);
}

function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
