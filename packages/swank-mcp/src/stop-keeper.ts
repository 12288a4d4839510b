import type { Evaluation, Stop } from "./lisp-port.js";
import type { Notices } from "./notices.js";

export interface StopLimits {
  /** Most stops that are kept at once. */
  readonly maxStops: number;
  /** How long a stop is kept. */
  readonly stopMinutes: number;
}

interface KeptStop {
  readonly session: Stop;
  readonly evaluation: Evaluation;
  readonly timer: NodeJS.Timeout;
}

/**
 * Keeps the stops of this server few and short: each parks a thread, with all that its frames hold, in somebody's image.
 * What it ends, it says with the next answer.
 */
export class StopKeeper {
  readonly #limits: StopLimits;
  readonly #notices: Notices;
  #kept: KeptStop[] = [];

  constructor(limits: StopLimits, notices: Notices) {
    this.#limits = limits;
    this.#notices = notices;
  }

  /** Takes a new stop under watch; ends the oldest when there are too many now. */
  add(session: Stop, evaluation: Evaluation): void {
    const { maxStops, stopMinutes } = this.#limits;
    const timer = setTimeout(
      () => this.#end(stop, `it was kept for ${stopMinutes} minutes (--stop-minutes)`),
      stopMinutes * 60_000,
    );
    timer.unref();
    const stop: KeptStop = { session, evaluation, timer };
    this.#kept.push(stop);
    this.#dropEnded();
    for (const oldest of this.#kept.slice(0, -maxStops))
      this.#end(oldest, `at most ${maxStops} stops are kept (--max-stops)`);
  }

  /** Live stops, oldest first. */
  get live(): readonly Stop[] {
    this.#dropEnded();
    return this.#kept.map((kept) => kept.session);
  }

  /** Forgets every stop; the image is going away or the server is. */
  clear(): void {
    for (const { timer } of this.#kept) clearTimeout(timer);
    this.#kept = [];
  }

  #end(stop: KeptStop, why: string): void {
    this.#forget(stop);
    const { session, evaluation } = stop;
    if (!session.isLive) return;
    this.#notices.add(`The stop ${session.thread}/${session.level} (${session.condition.type}) was aborted: ${why}.`);
    // One that ends by itself meanwhile, or with its image, is as good.
    evaluation.abort().catch(() => {});
  }

  #forget(stop: KeptStop): void {
    clearTimeout(stop.timer);
    this.#kept = this.#kept.filter((kept) => kept !== stop);
  }

  #dropEnded(): void {
    for (const stop of this.#kept) if (!stop.session.isLive) this.#forget(stop);
  }
}
