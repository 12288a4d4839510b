import { cutName, oneLine } from "../format/cut.js";
import type { ForeignStop, Stop } from "../lisp-port.js";
import type { LispSession } from "../lisp-session.js";
import type { StopKeeper } from "../stop-keeper.js";
import { runsApart } from "./foreign.js";

const MAX_MESSAGE = 200;
/** Most stops in a list, besides those that --max-stops allows: the threads of others may be many. */
const MAX_LISTED = 20;

type ListedStop = ReturnType<typeof stopData> | ReturnType<typeof foreignStopData>;

/** Stops as a list, and how many it leaves out. */
export function stopListData(own: readonly ListedStop[], others: readonly ListedStop[], maxStops: number) {
  const all = [...own, ...others];
  const isOwn = (stop: ListedStop) => !("foreign" in stop || "owner" in stop);
  const mine = all.filter(isOwn).slice(-maxStops);
  const theirs = all.filter((stop) => !isOwn(stop)).slice(-MAX_LISTED);
  const listed = all.filter((stop) => mine.includes(stop) || theirs.includes(stop));
  const left = all.length - listed.length;
  return { stopped: listed, ...(left > 0 ? { stopped_left_out: left } : {}) };
}

/** The stops of this server's session, oldest first. */
export function ownStops(stops: StopKeeper, session: LispSession) {
  return stops.live.map((stop) => stopData(stop, session));
}

/**
 * What is stopped in the debuggers of other clients, and whose it is.
 *
 * @throws SwankError what `foreignStops` throws.
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

function foreignStopData({ thread, level, threadName, condition, owner }: ForeignStop) {
  return {
    thread: `${thread}/${level}`,
    name: cutName(threadName),
    type: cutName(condition.type),
    message: oneLine(condition.message, MAX_MESSAGE),
    owner: owner.text,
  };
}
