import { inDebugger } from "./debugger-refusals.js";
import { more, oneLine } from "./format/cut.js";
import type { DebuggedStop, ForeignStop } from "./lisp-port.js";
import type { LispSession } from "./lisp-session.js";
import { Refusal } from "./refusal.js";
import type { ToolContext } from "./tool.js";

/** Which stop a tool is to act on: the latest, or that of a thread, which must be at `level` if that is given. */
export type StopAddress =
  | { readonly kind: "latest" }
  | { readonly kind: "thread"; readonly thread: number; readonly level: number | undefined };

/** A stop, and the session that it is in. */
export interface AddressedStop {
  readonly session: LispSession;
  readonly stop: DebuggedStop;
}

/** Where a stop is, and in whose debugger if that is another client's. */
type Place = Pick<DebuggedStop, "thread" | "level"> & Partial<Pick<DebuggedStop, "owner">>;

/** Characters of a wrong address that a message repeats. */
const MAX_SHOWN = 100;
/** Most stops that a message names, of this session and of others each. */
const MAX_PLACES = 10;

const HOW_THREADS_STOP =
  "A thread stops at an error in evaluate-lisp, at a breakpoint (breakpoint_set) and at (break).";

/**
 * Reads `auto`, a thread's id, or `id/level` as printed with a stop.
 *
 * @throws Refusal `INVALID_ARGUMENTS`
 */
export function readStopAddress(text: string): StopAddress {
  if (text.trim() === "auto") return { kind: "latest" };
  // numbers of more digits could not be told apart
  const [, thread, level] = /^(\d{1,15})(?:\/(\d{1,15}))?$/.exec(text.trim()) ?? [];
  if (thread === undefined) {
    throw new Refusal(
      "INVALID_ARGUMENTS",
      `"thread" is auto, a thread id, or id/level, not ${oneLine(JSON.stringify(text), MAX_SHOWN)}.`,
      {
        remedy: "Leave it out for the latest stop; lisp-status lists the stopped threads.",
      },
    );
  }
  return { kind: "thread", thread: Number(thread), level: level === undefined ? undefined : Number(level) };
}

/**
 * The stop that a `thread` argument means. One in another client's debugger must be named.
 *
 * @throws Refusal `NOT_DEBUGGING`, `NO_SUCH_THREAD`, `STALE_STOP`, `INVALID_ARGUMENTS`
 */
export async function findStop(thread: string, context: ToolContext): Promise<AddressedStop> {
  const address = readStopAddress(thread);
  // Nothing is launched only to say that nothing is stopped; in an image that is there, something may be.
  const isSureOfNothing = address.kind === "latest" || context.config.attach === undefined;
  if (isSureOfNothing && (await context.currentSession()) === undefined) throw notDebugging(others([]));
  const session = await context.session();
  const stops = innermost(session.client.stops);
  const stop = chosen(stops, address);
  if (stop !== undefined) return { session, stop };
  const foreign = await session.client.foreignStops();
  const named = address.kind === "thread" ? chosen(foreign, address) : undefined;
  if (named !== undefined) return { session, stop: await opened(named, context) };
  throw await missing(address, [...stops, ...foreign], session, context);
}

async function opened(stop: ForeignStop, context: ToolContext): Promise<DebuggedStop> {
  context.stops.saw(stop.thread);
  return inDebugger(() => stop.open());
}

/** The stops of threads at their deepest level, the latest last. */
export function innermost<S extends Place>(stops: readonly S[]): readonly S[] {
  return stops.filter((stop) => !stops.some(({ thread, level }) => thread === stop.thread && level > stop.level));
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
  if (level !== undefined && (now !== undefined || context.stops.hasSeen(thread))) return stale(thread, level, now);
  if (await client.hasThread(thread)) return notDebugging(`Thread ${thread} is not stopped. ${others(stops)}`);
  return new Refusal("NO_SUCH_THREAD", `There is no thread ${thread}.`, { remedy: others(stops) });
}

function stale(thread: number, level: number, now: Place | undefined): Refusal {
  return new Refusal("STALE_STOP", `The stop ${thread}/${level} has ended.`, {
    remedy:
      now === undefined
        ? "The thread went on. lisp-status lists what is stopped now."
        : `The thread is stopped at ${thread}/${now.level} now: look at it with debugger_frames, then use that.`,
  });
}

function notDebugging(remedy: string): Refusal {
  return new Refusal("NOT_DEBUGGING", "Thread not in debugger", { remedy });
}

function others(stops: readonly Place[]): string {
  const own = latest(stops.filter(({ owner }) => owner === undefined).map(name));
  const elsewhere = latest(
    stops.flatMap((stop) => (stop.owner === undefined ? [] : `${name(stop)} in ${stop.owner.text}`)),
  );
  if (own.length + elsewhere.length === 0) return `Nothing is stopped. ${HOW_THREADS_STOP}`;
  const ofOwn =
    own.length === 0
      ? "Nothing of this session is stopped."
      : `Stopped are: ${own.join(", ")}; auto means the last of these.`;
  return elsewhere.length === 0
    ? ofOwn
    : `${ofOwn} Stopped elsewhere: ${elsewhere.join(", ")}; name the thread to look at it.`;
}

/** The last of the places, which may be many, after the number of the others. */
function latest(places: readonly string[]): string[] {
  const left = places.length - MAX_PLACES;
  return left > 0 ? [more(left, "stop"), ...places.slice(-MAX_PLACES)] : [...places];
}

function name({ thread, level }: Place): string {
  return `${thread}/${level}`;
}
