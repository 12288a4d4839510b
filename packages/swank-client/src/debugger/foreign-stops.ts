import { type ForeignStopData, foreignStops } from "../calls/foreign-stops.js";
import { stoppedLevels } from "../calls/stopped-levels.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { ForeignChannel } from "./foreign-channel.js";
import { Stop } from "./stop.js";

interface KnownStop {
  readonly stop: Stop;
  readonly channel: ForeignChannel;
}

/** Finds the stops in the debuggers of an image's other clients. */
export class ForeignStops {
  readonly #lisp: LispRunner;
  /** By the image's number for the stop. */
  readonly #known = new Map<number, KnownStop>();
  #isNeeded = false;

  constructor(lisp: LispRunner) {
    this.#lisp = lisp;
  }

  /** Lists the stops. Loads nothing into the image while no thread is stopped. */
  async list(): Promise<readonly Stop[]> {
    if (!(await this.#mayHaveAny())) return [];
    const before = [...this.#known];
    const found = await this.#lisp.run(foreignStops);
    for (const [number, { channel }] of before) if (!found.some((data) => data.number === number)) channel.end();
    return found.map((data) => this.#take(data));
  }

  /** Ends every stop, because the connection is closed. */
  clear(): void {
    for (const { channel } of this.#known.values()) channel.end();
    this.#known.clear();
  }

  async #mayHaveAny(): Promise<boolean> {
    this.#isNeeded ||= (await this.#lisp.run(stoppedLevels)).some((level) => level > 0);
    return this.#isNeeded;
  }

  /** A stop whose owner has disconnected gets a new identity, so earlier approvals no longer apply. */
  #take(data: ForeignStopData): Stop {
    const known = this.#known.get(data.number);
    if (known?.stop.owner?.text === data.owner.text) return known.stop;
    const channel = new ForeignChannel(data, this.#lisp);
    const taken = { stop: new Stop(channel, data, this.#lisp), channel };
    channel.left.onOpen(() => this.#forget(data.number, taken));
    this.#known.set(data.number, taken);
    return taken.stop;
  }

  #forget(number: number, stop: KnownStop): void {
    if (this.#known.get(number) === stop) this.#known.delete(number);
  }
}
