import { lastPlaces, placeName } from "../format/stop-places.js";
import { innermost } from "../image/innermost.js";
import type { DebuggedStop } from "../image/lisp-port.js";
import type { LispSession } from "../image/lisp-session.js";
import { Refusal } from "../refusals/refusal.js";
import { oneLine } from "../text/cut.js";
import type { ToolContext } from "./tool-context.js";

/** The stop that a tool acts on: the latest, or that of a thread, at `level` if that is given. */
export type StopAddress =
  | { readonly kind: "latest" }
  | { readonly kind: "thread"; readonly thread: number; readonly level: number | undefined };

/** A stop and its session. */
export interface AddressedStop {
  readonly session: LispSession;
  readonly stop: DebuggedStop;
}

/** The thread and level of a stop, and its owner if that is another client. */
type Place = Pick<DebuggedStop, "thread" | "level"> & Partial<Pick<DebuggedStop, "owner">>;

/** Characters of a wrong address that a message repeats. */
const MAX_SHOWN = 100;

const HOW_THREADS_STOP =
  "A thread stops at an error in evaluate-lisp, at a breakpoint (breakpoint_set) and at (break).";

/**
 * Reads `auto`, a thread id, or `id/level` as printed with a stop.
 *
 * @throws Refusal `INVALID_ARGUMENTS`
 */
export function readStopAddress(text: string): StopAddress {
  if (text.trim() === "auto") return { kind: "latest" };
  // JavaScript numbers with more digits are not exact.
  const [, thread, level] = /^(\d{1,15})(?:\/(\d{1,15}))?$/.exec(text.trim()) ?? [];
  if (thread === undefined) {
    throw new Refusal(
      "INVALID_ARGUMENTS",
      `"thread" must be auto, a thread id, or id/level, not ${oneLine(JSON.stringify(text), MAX_SHOWN)}.`,
      {
        remedy: "Leave it out for the latest stop; lisp-status lists the stopped threads.",
      },
    );
  }
  return { kind: "thread", thread: Number(thread), level: level === undefined ? undefined : Number(level) };
}

/**
 * Finds the stop that a `thread` argument names. `auto` never means a stop in another client's debugger.
 *
 * @throws Refusal `NOT_DEBUGGING`, `NO_SUCH_THREAD`, `STALE_STOP`, `INVALID_ARGUMENTS`
 */
export async function findStop(thread: string, context: ToolContext): Promise<AddressedStop> {
  const address = readStopAddress(thread);
  // Without a session there is no stop of this agent. Only an image to attach to may have a stop of another client.
  const needsNoImage = address.kind === "latest" || context.config.attach === undefined;
  if (needsNoImage && (await context.currentSession()) === undefined) throw await noImage(context);
  const session = await context.session();
  const stops = innermost(context.agent.stopsIn(session));
  const stop = chosen(stops, address);
  if (stop !== undefined) return { session, stop };
  const foreign = await session.client.foreignStops();
  const named = address.kind === "thread" ? chosen(foreign, address) : undefined;
  if (named !== undefined) return { session, stop: await opened(named, context) };
  throw await missing(address, [...stops, ...foreign], session, context);
}

async function noImage({ lastLoss }: ToolContext): Promise<Refusal> {
  const loss = await lastLoss();
  return notDebugging(loss === undefined ? others([]) : `${loss} Its stops are gone. ${others([])}`);
}

async function opened(stop: DebuggedStop, context: ToolContext): Promise<DebuggedStop> {
  context.agent.stops.saw(stop.thread);
  await stop.open();
  return stop;
}

function chosen<S extends Place>(stops: readonly S[], address: StopAddress): S | undefined {
  if (address.kind === "latest") return stops.at(-1);
  const stop = stops.find(({ thread }) => thread === address.thread);
  return address.level === undefined || stop?.level === address.level ? stop : undefined;
}

async function missing(
  address: StopAddress,
  stops: readonly Place[],
  { client }: LispSession,
  context: ToolContext,
): Promise<Refusal> {
  if (address.kind === "latest") return notDebugging(others(stops));
  const { thread, level } = address;
  const now = stops.find((stop) => stop.thread === thread);
  if (level !== undefined && (now !== undefined || context.agent.stops.hasSeen(thread)))
    return stale(thread, level, now);
  if (client.stops.some((stop) => stop.thread === thread))
    return notDebugging(`Thread ${thread} is stopped for another client of this server. ${others(stops)}`);
  if (await client.hasThread(thread)) return notDebugging(`Thread ${thread} is not stopped. ${others(stops)}`);
  return new Refusal("NO_SUCH_THREAD", `There is no thread ${thread}.`, { remedy: others(stops) });
}

/**
 * Refuses a stop that this server ends because of a limit: its thread may not have left it yet.
 *
 * @throws Refusal `STALE_STOP`
 */
export function checkKept({ stop }: AddressedStop, { agent }: ToolContext): void {
  if (agent.stops.isEnding(stop)) throw stale(stop.thread, stop.level, undefined);
}

function stale(thread: number, level: number, now: Place | undefined): Refusal {
  return new Refusal("STALE_STOP", `The stop ${thread}/${level} has ended.`, {
    remedy:
      now === undefined
        ? "The thread has resumed or ended. lisp-status lists the stopped threads."
        : `The thread is now stopped at ${thread}/${now.level}: inspect it with debugger_frames, then use that address.`,
  });
}

function notDebugging(remedy: string): Refusal {
  return new Refusal("NOT_DEBUGGING", "Thread not in debugger", { remedy });
}

function others(stops: readonly Place[]): string {
  const own = lastPlaces(stops.filter(({ owner }) => owner === undefined).map(placeName));
  const elsewhere = lastPlaces(
    stops.flatMap((stop) => (stop.owner === undefined ? [] : `${placeName(stop)} in ${stop.owner.text}`)),
  );
  if (own.length + elsewhere.length === 0) return `No thread is stopped. ${HOW_THREADS_STOP}`;
  const ofOwn =
    own.length === 0
      ? "No thread of this session is stopped."
      : `Stopped threads: ${own.join(", ")}; auto means the last of these.`;
  return elsewhere.length === 0
    ? ofOwn
    : `${ofOwn} Stopped in other clients: ${elsewhere.join(", ")}; give the thread's id to inspect it.`;
}
