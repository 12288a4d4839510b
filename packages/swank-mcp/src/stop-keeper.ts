import { cutName, oneLine } from "./format/cut.js";
import type { DebuggedStop, Stop } from "./lisp-port.js";
import type { Notices } from "./notices.js";
import { settledWithin } from "./settled-within.js";

export interface StopLimits {
  /** Most stops that are kept at once. */
  readonly maxStops: number;
  /** How long a stop is kept. */
  readonly stopMinutes: number;
}

/** What a stop is ended by: its evaluation, as a rule. */
export interface StopOwner {
  abort(): Promise<unknown>;
  /** What becomes of it then, in a word. Default: `aborted`. */
  readonly ending?: string;
}

interface KeptStop {
  readonly session: Stop;
  /** `undefined` for what is somebody else's to end: it is listed, and no limit holds for it. */
  readonly owner: StopOwner | undefined;
  readonly timer: NodeJS.Timeout | undefined;
}

/** Threads that are remembered to have been stopped. */
const REMEMBERED = 1000;
const MAX_MESSAGE = 200;

/**
 * Keeps the stops of this server few and short: each parks a thread, with all that its frames hold, in somebody's image.
 * What it ends, it says with the next answer.
 */
export class StopKeeper {
  readonly #limits: StopLimits;
  readonly #notices: Notices;
  readonly #seen = new Set<number>();
  /** By thread; several calls may wait for the same one. */
  readonly #awaiting = new Map<number, Set<(stop: DebuggedStop) => void>>();
  #kept: KeptStop[] = [];

  constructor(limits: StopLimits, notices: Notices) {
    this.#limits = limits;
    this.#notices = notices;
  }

  /** Takes a new stop under watch; ends the oldest when there are too many now. */
  add(session: Stop, owner: StopOwner): void {
    if (this.#kept.some((kept) => kept.session === session)) return;
    const { maxStops, stopMinutes } = this.#limits;
    const timer = setTimeout(
      () => this.#end(stop, `it was kept for ${stopMinutes} minutes (--stop-minutes)`),
      stopMinutes * 60_000,
    );
    timer.unref();
    const stop = { session, owner, timer };
    this.#keep(stop);
    const owned = this.#kept.filter((kept) => kept.owner !== undefined);
    for (const oldest of owned.slice(0, -maxStops))
      this.#end(oldest, `at most ${maxStops} stops are kept (--max-stops)`);
  }

  /**
   * The client tells of a new stop. That of a thread that no call waits for is told with the next answer.
   *
   * @param isForeign - True if the thread is somebody else's; then this server never ends the stop.
   */
  arrived(stop: DebuggedStop, isForeign = false): void {
    const { evaluation, thread, level, condition } = stop;
    if (evaluation !== undefined) {
      this.add(stop, evaluation);
      return;
    }
    if (isForeign) this.#keep({ session: stop, owner: undefined, timer: undefined });
    else this.add(stop, { abort: () => letGo(stop), ending: stop.reason === "error" ? "aborted" : "let go" });
    const awaiting = this.#awaiting.get(thread);
    if (awaiting !== undefined) {
      for (const tell of awaiting) tell(stop);
      return;
    }
    const message = oneLine(condition.message, MAX_MESSAGE);
    this.#notices.add(
      `Thread ${thread}, ${stop.isOwn ? "which your code started" : "which no evaluation of yours runs"}, has stopped with ${cutName(condition.type)}: ${message} (${thread}/${level} for the debugger tools)`,
      "stopped thread",
    );
  }

  /**
   * Lets a thread go on that is no evaluation.
   *
   * @param time - Milliseconds to wait for its next stop.
   * @returns `undefined` when it has not stopped by then.
   * @throws what `leave` throws.
   */
  async after(thread: number, leave: () => Promise<void>, time: number): Promise<DebuggedStop | undefined> {
    const { promise, tell } = this.#await(thread);
    try {
      await leave();
      return (await settledWithin(time, promise))?.value;
    } finally {
      this.#awaitNoMore(thread, tell);
    }
  }

  /** Live stops, oldest first. */
  get live(): readonly Stop[] {
    this.#dropEnded();
    return this.#kept.map((kept) => kept.session);
  }

  /** A thread is known to be stopped in another client's debugger. */
  saw(thread: number): void {
    this.#remember(thread);
  }

  /** Whether a thread has been stopped before. */
  hasSeen(thread: number): boolean {
    return this.#seen.has(thread);
  }

  /** Forgets every stop that is this server's to end: the session or the server comes to its end. */
  clear(): void {
    for (const { timer } of this.#kept) clearTimeout(timer);
    this.#kept = this.#kept.filter((kept) => kept.owner === undefined);
  }

  #await(thread: number) {
    let tell: (stop: DebuggedStop) => void = () => {};
    const promise = new Promise<DebuggedStop>((resolve) => {
      tell = resolve;
    });
    this.#awaiting.set(thread, (this.#awaiting.get(thread) ?? new Set()).add(tell));
    return { promise, tell };
  }

  #awaitNoMore(thread: number, tell: (stop: DebuggedStop) => void): void {
    const waiters = this.#awaiting.get(thread);
    waiters?.delete(tell);
    if (waiters?.size === 0) this.#awaiting.delete(thread);
  }

  #keep(stop: KeptStop): void {
    this.#remember(stop.session.thread);
    this.#kept.push(stop);
    this.#dropEnded();
  }

  #end(stop: KeptStop, why: string): void {
    this.#forget(stop);
    const { session, owner } = stop;
    if (owner === undefined || !session.isLive) return;
    const { thread, level, condition } = session;
    this.#notices.add(
      `The stop ${thread}/${level} (${cutName(condition.type)}) was ${owner.ending ?? "aborted"}: ${why}.`,
      "ended stop",
    );
    // One that ends by itself meanwhile, or with its image, is as good.
    owner.abort().catch(() => {});
  }

  #remember(thread: number): void {
    this.#seen.delete(thread);
    this.#seen.add(thread);
    for (const oldest of this.#seen) {
      if (this.#seen.size <= REMEMBERED) break;
      this.#seen.delete(oldest);
    }
  }

  #forget(stop: KeptStop): void {
    clearTimeout(stop.timer);
    this.#kept = this.#kept.filter((kept) => kept !== stop);
  }

  #dropEnded(): void {
    for (const stop of this.#kept) if (!stop.session.isLive) this.#forget(stop);
  }
}

/** A thread that only met a breakpoint goes on with its work; one with an error has no way on but out. */
function letGo(stop: DebuggedStop): Promise<void> {
  return stop.reason === "error" ? stop.abort() : stop.continue();
}
