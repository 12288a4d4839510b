import { setTimeout as pause } from "node:timers/promises";
import { list, type Sexp, symbol } from "sexp-parser";
import type { Stop, SwankClient } from "swank-client";
import type { SwankMessage } from "swank-client/protocol";
import type { LiveImage } from "./live-image.js";

/** Another client of the image, which knows no more than Swank tells it, as Emacs does. */
export class Neighbour {
  readonly client: SwankClient;
  /** What Swank has told it. */
  readonly told: SwankMessage[] = [];

  private constructor(client: SwankClient) {
    this.client = client;
    client.connection.on("event", (message) => this.told.push(message));
  }

  static async of(image: LiveImage): Promise<Neighbour> {
    return new Neighbour(await image.connect({ runtime: false }));
  }

  /** Evaluates a form, in a thread of its own. => what comes of it in the end: the value printed, or `aborted`. */
  async evaluate(form: string, thread?: number): Promise<string> {
    const label = form;
    const value = list(symbol("cl:eval"), list(symbol("cl:read-from-string"), form));
    const printed = list(symbol("cl:prin1-to-string"), value);
    const where = thread === undefined ? {} : { thread };
    const reply = await this.client.connection.request(printed, { label, package: "CL-USER", ...where });
    return reply.status === "ok" ? String(reply.value) : "aborted";
  }

  /** Its latest stop, when it has been told of as many. */
  async stop(count = 1): Promise<Stop> {
    for (;;) {
      const stop = this.client.stops.at(-1);
      if (stop !== undefined && this.client.stops.length >= count) return stop;
      await pause(5);
    }
  }

  /** Chooses a restart of a stop, as a person does in Emacs. */
  async choose({ thread, level }: Stop, restart: number): Promise<void> {
    await this.#request([symbol("swank:invoke-nth-restart-for-emacs"), level, restart], thread);
  }

  async #request(form: Sexp, thread: number): Promise<void> {
    await this.client.connection.request(form, { label: "restart", thread });
  }
}

/** The one thing that is stopped elsewhere. */
export async function onlyStop(client: SwankClient): Promise<Stop> {
  const [stop, ...more] = await client.foreignStops();
  if (stop === undefined || more.length > 0) throw new Error(`${more.length} others are stopped elsewhere.`);
  return stop;
}
