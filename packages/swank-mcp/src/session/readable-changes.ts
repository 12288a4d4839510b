import type { types } from "swank-client";
import type { AgentSession } from "./agent.js";
import type { LispSession } from "./image.js";
import type { DebuggedStop } from "./lisp-port.js";

/** What a client can read of its agent beside answers. */
export type Readable = "stops" | "last-error" | "definitions";

/** Milliseconds within which several changes are told as one. */
const TOGETHER = 100;

/** Tells what has changed of what a client can read. Asks Lisp nothing, and opens no image. */
export class ReadableChanges {
  readonly #listener: (changed: Readable) => void;
  readonly #changed = new Set<Readable>();
  readonly #ends: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #state: "beginning" | "listening" | "closed" = "beginning";

  constructor({ host, lastError }: AgentSession, listener: (changed: Readable) => void) {
    this.#listener = listener;
    this.#ends.push(
      lastError.onChange(() => this.#note("last-error")),
      host.onSession((session) => this.#watch(session)),
    );
    this.#state = "listening";
  }

  close(): void {
    this.#state = "closed";
    for (const end of this.#ends.splice(0)) end();
    clearTimeout(this.#timer);
    this.#changed.clear();
  }

  #watch({ client }: LispSession): void {
    this.#noteAll();
    for (const stop of client.stops) this.#watchStop(stop);
    this.#ends.push(
      client.on("stop", (stop) => this.#watchStop(stop)),
      client.on("sessionForm", (form) => isDefining(form) && this.#note("definitions")),
    );
    void client.closed.then(() => this.#noteAll());
  }

  #watchStop(stop: DebuggedStop): void {
    this.#note("stops");
    stop.ended.addEventListener("abort", () => this.#note("stops"), { once: true });
  }

  #noteAll(): void {
    this.#note("stops");
    this.#note("definitions");
  }

  #note(changed: Readable): void {
    if (this.#state !== "listening") return;
    this.#changed.add(changed);
    this.#timer ??= setTimeout(() => this.#tell(), TOGETHER).unref();
  }

  #tell(): void {
    this.#timer = undefined;
    const told = [...this.#changed];
    this.#changed.clear();
    for (const changed of told) this.#listener(changed);
  }
}

function isDefining({ kind, loaded }: types.SessionForm): boolean {
  return kind !== "effects" || loaded.length > 0;
}
