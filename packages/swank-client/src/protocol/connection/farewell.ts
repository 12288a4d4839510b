import type { Transport } from "../transport/transport.js";
import { readMessage } from "../wire/read-message.js";

/** The part of the time after which the question is no longer waited for. */
const FOR_THE_ANSWER = 1 / 2;

/**
 * The end of a connection that this side closes: ends the stream, and waits briefly for the other side to close.
 *
 * Before, it waits for the answer to a question if requests are on their way. Swank ends the thread that passes requests on as soon as the
 * stream ends, and a thread that was made for a request and has not received it would wait forever (swank.lisp, `spawn-worker-thread`).
 */
export class Farewell {
  readonly #transport: Transport;
  #question: number | undefined;
  readonly #timers: readonly NodeJS.Timeout[];

  /**
   * @param linger - Milliseconds until the stream is destroyed.
   * @param question - The id of a request that the server's dispatching thread answers itself, sent last.
   */
  constructor(transport: Transport, linger: number, question?: number) {
    this.#transport = transport;
    this.#question = question;
    const destroying = setTimeout(() => transport.destroy(), linger);
    if (question === undefined) {
      transport.end();
      this.#timers = [destroying];
    } else {
      this.#timers = [destroying, setTimeout(() => transport.end(), linger * FOR_THE_ANSWER)];
    }
  }

  /** True until the answer has come. */
  get isWaiting(): boolean {
    return this.#question !== undefined;
  }

  /** Reads a message that came after the end began. */
  read(payload: string): void {
    const message = readMessage(payload);
    if (message.type !== "invalid-rpc" && message.type !== "return") return;
    if (message.id !== this.#question) return;
    this.#question = undefined;
    this.#transport.end();
  }

  /** The stream has closed. */
  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
