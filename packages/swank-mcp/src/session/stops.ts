import type { Config } from "../base/config.js";
import { settledWithin } from "../base/lifetime.js";
import { cutName, oneLine } from "../text/cut.js";
import type { Notices } from "./agent.js";
import type { ApprovalRequest } from "./approval-prompt.js";
import type { LispSession } from "./image.js";
import type { DebuggedStop, Stop } from "./lisp-port.js";

type StopLimits = Pick<Config, "maxStops" | "stopMinutes">;

/** Ends a stop; usually the stop's evaluation. */
interface StopOwner {
  abort(): Promise<unknown>;
  /** What `abort` does, as a participle for the notice. Default: `aborted`. */
  readonly ending?: string;
  /** True if the thread runs no evaluation: other clients of this server then keep the stop, too. */
  readonly isShared?: boolean;
}

interface KeptStop {
  readonly stop: Stop;
  /** `undefined` for a foreign stop, which only its client ends: it is listed, but no limit applies. */
  readonly owner: StopOwner | undefined;
  readonly timer: NodeJS.Timeout | undefined;
}

interface Awaiting {
  readonly thread: number;
  resolve(stop: DebuggedStop): void;
}

const REMEMBERED = 1000;

const MAX_MESSAGE = 200;

/** How often ending a stop is tried, and after how many milliseconds again. */
const MOST_TRIES = 10;

const NEXT_TRY = 5000;

/**
 * Limits the number and age of this server's stops, since each blocks a thread and keeps its frames' objects alive. The next answer
 * reports each stop that it ended.
 */
export class StopKeeper {
  readonly #limits: StopLimits;
  readonly #notices: Notices;
  readonly #seen = new Set<number>();
  readonly #awaiting = new Set<Awaiting>();
  readonly #awaited = new WeakSet<DebuggedStop>();
  #kept: KeptStop[] = [];
  /** Stops that a limit ends; until their threads have left them, they are still live. */
  readonly #ending = new WeakSet<Stop>();

  constructor(limits: StopLimits, notices: Notices) {
    this.#limits = limits;
    this.#notices = notices;
  }

  /**
   * Adds a new stop, and ends the oldest if there are now too many. A stop that was added and has been ended since stays so, although its
   * thread may still be leaving it: otherwise each of several simultaneous stops would displace another.
   */
  add(stop: Stop, owner: StopOwner): void {
    if (this.#ending.has(stop) || this.#kept.some((kept) => kept.stop === stop)) return;
    const { maxStops, stopMinutes } = this.#limits;
    const timer = setTimeout(
      () => this.#end(kept, `it was kept for ${stopMinutes} minutes (--stop-minutes)`),
      stopMinutes * 60_000,
    );
    timer.unref();
    const kept = { stop, owner, timer };
    this.#keep(kept);
    const limited = this.#kept.filter((kept) => kept.owner !== undefined);
    for (const oldest of limited.slice(0, -maxStops))
      this.#end(oldest, `at most ${maxStops} stops are kept (--max-stops)`);
  }

  /** Handles a new stop. If no call waits for its thread, the next answer reports it. @param isForeign - Of another client or the program: it is never ended. */
  arrived(stop: DebuggedStop, isForeign = false): void {
    const { evaluation } = stop;
    if (evaluation !== undefined) {
      this.add(stop, evaluation);
      this.#resolveAwaiting(stop);
      return;
    }
    if (isForeign) this.#keep({ stop, owner: undefined, timer: undefined });
    else this.add(stop, sharedOwner(stop));
    if (this.#resolveAwaiting(stop)) return;
    const { text, advice } = apartNotice(stop);
    this.#notices.add(text, "stopped thread", advice);
  }

  /**
   * Waits for the next stop of a thread.
   *
   * @param leave - Makes the thread leave its stop, or stop.
   * @param time - Milliseconds to wait for the next stop.
   * @returns `undefined` when the thread has not stopped again by then.
   * @throws the error of `leave`.
   */
  async after(thread: number, leave: () => Promise<void>, time: number): Promise<DebuggedStop | undefined> {
    let end = () => {};
    const next = new Promise<DebuggedStop>((resolve) => {
      const awaiting = { thread, resolve };
      this.#awaiting.add(awaiting);
      end = () => void this.#awaiting.delete(awaiting);
    });
    try {
      await leave();
      return (await settledWithin(time, next))?.value;
    } finally {
      end();
    }
  }

  get live(): readonly Stop[] {
    this.#dropEnded();
    return this.#kept.map((kept) => kept.stop);
  }

  /** Whether a limit ends this stop, or has ended it. */
  isEnding(stop: Stop): boolean {
    return this.#ending.has(stop);
  }

  /** Notes that a thread is stopped in another client's debugger. */
  saw(thread: number): void {
    this.#remember(thread);
  }

  /** Whether a thread has ever been stopped, as far as remembered. */
  hasSeen(thread: number): boolean {
    return this.#seen.has(thread);
  }

  /** Forgets every stop that this server may end, because the session or the server ends. */
  clear(): void {
    for (const { timer } of this.#kept) clearTimeout(timer);
    this.#kept = this.#kept.filter((kept) => kept.owner === undefined);
  }

  /** Ends every stop that this server may end, because its client has left. Does not wait. @param keepShared - Others remain: they keep those of no evaluation. */
  endAll(keepShared: boolean): void {
    for (const { stop, owner } of this.#kept)
      if (stop.isLive && !(keepShared && owner?.isShared === true)) owner?.abort().catch(() => {});
    this.clear();
  }

  /** Whether a call waited for this stop, and reports it. */
  wasAwaited(stop: DebuggedStop): boolean {
    return this.#awaited.has(stop);
  }

  /** => whether a call waits for the stop */
  #resolveAwaiting(stop: DebuggedStop): boolean {
    const awaiting = [...this.#awaiting].filter(({ thread }) => thread === stop.thread);
    if (awaiting.length > 0) this.#awaited.add(stop);
    for (const { resolve } of awaiting) resolve(stop);
    return awaiting.length > 0;
  }

  #keep(kept: KeptStop): void {
    this.#remember(kept.stop.thread);
    this.#kept.push(kept);
    this.#dropEnded();
  }

  #end(kept: KeptStop, why: string): void {
    this.#forget(kept);
    const { stop, owner } = kept;
    if (owner === undefined || !stop.isLive) return;
    const { thread, level, condition } = stop.data;
    this.#notices.add(
      `The stop ${thread}/${level} (${cutName(condition.type)}) was ${owner.ending ?? "aborted"}: ${why}.`,
      "ended stop",
    );
    this.#ending.add(stop);
    endStop(stop, owner);
  }

  #remember(thread: number): void {
    this.#seen.delete(thread);
    this.#seen.add(thread);
    for (const oldest of this.#seen) {
      if (this.#seen.size <= REMEMBERED) break;
      this.#seen.delete(oldest);
    }
  }

  #forget(forgotten: KeptStop): void {
    clearTimeout(forgotten.timer);
    this.#kept = this.#kept.filter((kept) => kept !== forgotten);
  }

  #dropEnded(): void {
    for (const kept of this.#kept) if (!kept.stop.isLive) this.#forget(kept);
  }
}

/** The news of a stop of a thread that runs no evaluation, and what to do about it. */
export function apartNotice({ thread, level, condition, data }: DebuggedStop) {
  const who = data.isOwn ? `Thread ${thread}, started by your code,` : `Background thread ${thread}`;
  const message = oneLine(condition.message, MAX_MESSAGE).replace(/(?<=[^.!?])$/, ".");
  return {
    text: `${who} stopped with ${cutName(condition.type)}: ${message}`,
    advice: `To look at it, call debugger_frames with thread "${thread}/${level}".`,
  };
}

function sharedOwner(stop: DebuggedStop): StopOwner {
  return { abort: () => release(stop), ending: stop.reason === "error" ? "aborted" : "continued", isShared: true };
}

/** Ends a stop. If its thread does not answer in time, as among thousands of others, this is tried again. */
function endStop(stop: Stop, owner: StopOwner, tries = MOST_TRIES): void {
  owner.abort().catch(() => {
    // A stop that has ended with its image or otherwise is just as good.
    if (tries > 1 && stop.isLive) setTimeout(() => endStop(stop, owner, tries - 1), NEXT_TRY).unref();
  });
}

/** Aborts a thread that stopped at an error. Continues any other, for example one at a breakpoint. */
export function release(stop: DebuggedStop): Promise<void> {
  return stop.reason === "error" ? stop.abort() : stop.continue();
}

/** Whether a thread runs no code of this session, and was not stopped by a breakpoint or step of this session. */
export function runsApart({ evaluation, data }: Pick<DebuggedStop, "evaluation" | "data">): boolean {
  const { isOwn, reason } = data;
  return evaluation === undefined && !isOwn && reason !== "breakpoint" && reason !== "step";
}

/** Whether a stopped thread belongs to another client or the program. In a launched image, only other clients count. */
export function isForeign(stop: DebuggedStop, { origin }: LispSession): boolean {
  return stop.owner !== undefined || (origin.kind === "attached" && runsApart(stop));
}

export function ownership(stop: DebuggedStop, session: LispSession): Pick<ApprovalRequest, "isForeign" | "owner"> {
  return { isForeign: isForeign(stop, session), owner: stop.owner?.text };
}

/** The stops of threads at their deepest level, the latest last. */
export function innermost<S extends Pick<DebuggedStop, "thread" | "level">>(stops: readonly S[]): readonly S[] {
  return stops.filter((stop) => !stops.some(({ thread, level }) => thread === stop.thread && level > stop.level));
}
