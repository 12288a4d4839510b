import { oneLine } from "../format/cut.js";
import type { ForeignStop, Stop } from "../lisp-port.js";
import type { LispSession } from "../lisp-session.js";
import type { StopKeeper } from "../stop-keeper.js";
import { runsApart } from "./foreign.js";

const MAX_MESSAGE = 200;

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
    type: condition.type,
    message: oneLine(condition.message, MAX_MESSAGE),
    since: new Date(condition.timestamp).toISOString(),
    ...(isForeign ? { foreign: true } : {}),
  };
}

function foreignStopData({ thread, level, threadName, condition, owner }: ForeignStop) {
  return {
    thread: `${thread}/${level}`,
    name: threadName,
    type: condition.type,
    message: oneLine(condition.message, MAX_MESSAGE),
    owner: owner.text,
  };
}
