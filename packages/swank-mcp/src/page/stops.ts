import type { LispSession } from "../session/image.js";
import type { DebuggedStop } from "../session/lisp-port.js";
import { innermost } from "../session/stops.js";
import type { PageStop } from "./model.js";
import { PageRefusal } from "./reply.js";

/** The owner of the stops of the person's own evaluations. */
const YOU = "you";

/** The stopped threads of an image, whoever's debugger has them. */
export class PageStops {
  /** When the page learned of a stop in another client's debugger: since when it lasts is not recorded. */
  readonly #seen = new WeakMap<DebuggedStop, number>();

  /**
   * All stopped threads, each at its deepest level. Interrupts none.
   *
   * @throws SwankError the errors of `foreignStops`.
   */
  async list({ client }: LispSession): Promise<readonly DebuggedStop[]> {
    const foreign = await client.foreignStops();
    const all = [...innermost(client.stops), ...foreign].filter(({ isLive }) => isLive);
    for (const stop of all) this.#since(stop);
    return all;
  }

  /**
   * A stop with all that is known about it.
   *
   * @throws PageRefusal `STALE_STOP`; SwankError the errors of `foreignStops` and `open`.
   */
  async find(session: LispSession, thread: number, level: number): Promise<DebuggedStop> {
    const stops = [...session.client.stops, ...(await this.list(session))];
    const stop = stops.find((each) => each.thread === thread && each.level === level && each.isLive);
    if (stop === undefined)
      throw new PageRefusal("STALE_STOP", `Thread ${thread} is not stopped at level ${level} any more.`);
    return stop.open();
  }

  /** The stop as the page shows it. */
  data(stop: DebuggedStop): PageStop {
    const { thread, level, reason, condition, restarts, owner, data } = stop;
    return {
      thread,
      level,
      ...(data.threadName === undefined ? {} : { threadName: data.threadName }),
      reason,
      type: condition.type,
      message: condition.message,
      owner: owner === undefined ? YOU : (owner.agent ?? owner.text),
      restarts,
      since: this.#since(stop),
    };
  }

  #since(stop: DebuggedStop): number {
    if (stop.owner === undefined) return stop.condition.timestamp;
    const since = this.#seen.get(stop) ?? Date.now();
    this.#seen.set(stop, since);
    return since;
  }
}
