import type { AgentSession } from "../../agent/agent-session.js";
import { runsApart } from "../../agent/foreign.js";
import type { StopKeeper } from "../../agent/stop-keeper.js";
import type { DebuggedStop, Stop } from "../../image/lisp-port.js";
import type { LispSession } from "../../image/lisp-session.js";
import { cutName, oneLine } from "../../text/cut.js";

const MAX_MESSAGE = 200;
/** Most stops of other clients and of the program in a list. The session's own are limited by --max-stops. */
const MAX_LISTED = 20;

type ListedStop = ReturnType<typeof stopData> | ReturnType<typeof foreignStopData>;

/** The list of stops, and the number left out. */
export function stopListData(own: readonly ListedStop[], others: readonly ListedStop[], maxStops: number) {
  const all = [...own, ...others];
  const isOwn = (stop: ListedStop) => !("foreign" in stop || "owner" in stop);
  const mine = all.filter(isOwn).slice(-maxStops);
  const theirs = all.filter((stop) => !isOwn(stop)).slice(-MAX_LISTED);
  const listed = all.filter((stop) => mine.includes(stop) || theirs.includes(stop));
  const left = all.length - listed.length;
  return { stopped: listed, ...(left > 0 ? { stopped_left_out: left } : {}) };
}

/** The stops that this server keeps, oldest first. */
export function ownStops({ stops }: AgentSession, session: LispSession) {
  return stops.live.map((stop) => stopData(stop, session));
}

/**
 * The stops in other clients' debuggers, with their owners.
 *
 * @throws SwankError - the error of `foreignStops`.
 */
export async function othersStops(stops: StopKeeper, { client }: LispSession) {
  const foreign = await client.foreignStops();
  for (const { thread } of foreign) stops.saw(thread);
  return foreign.map(foreignStopData);
}

function stopData(stop: Stop, { client }: LispSession) {
  const { thread, level, condition } = stop;
  const isForeign = client.stops.some((known) => known === stop && runsApart(known));
  return {
    thread: `${thread}/${level}`,
    type: cutName(condition.type),
    message: oneLine(condition.message, MAX_MESSAGE),
    since: new Date(condition.timestamp).toISOString(),
    ...(isForeign ? { foreign: true } : {}),
  };
}

function foreignStopData({ data: { thread, level, threadName = "", condition, owner } }: DebuggedStop) {
  return {
    thread: `${thread}/${level}`,
    name: cutName(threadName),
    type: cutName(condition.type),
    message: oneLine(condition.message, MAX_MESSAGE),
    owner: owner?.text,
  };
}
