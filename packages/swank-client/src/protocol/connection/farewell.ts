import { NIL } from "sexp-parser";
import type { Transport } from "../transport/transport.js";
import { NO_THREAD, printMessagePieces } from "../wire/encode-message.js";
import { encodePieces } from "../wire/frames.js";
import { readMessage } from "../wire/read-message.js";

/** The part of the time after which the answer is no longer waited for. */
const FOR_THE_ANSWER = 1 / 2;

/** The id of the question. No request of a connection has it, unless its caller has chosen it. */
const QUESTION = -1;

/**
 * The end of a connection that this side closes: ends the stream, and waits briefly for the other side to close.
 *
 * If requests may be on their way, it first asks a question that the server's dispatching thread answers itself, and waits for the answer.
 * Swank ends that thread as soon as the stream ends, and a thread that was made for a request and has not received it would wait forever
 * (swank.lisp, `spawn-worker-thread`).
 */
export class Farewell {
  readonly #transport: Transport;
  #isWaiting: boolean;
  readonly #timers: NodeJS.Timeout[] = [];

  /**
   * @param linger - Milliseconds until the stream is destroyed.
   * @param asks - True to ask first.
   */
  constructor(transport: Transport, linger: number, asks: boolean) {
    this.#transport = transport;
    this.#isWaiting = asks;
    this.#timers.push(setTimeout(() => transport.destroy(), linger));
    if (asks) this.#ask(linger * FOR_THE_ANSWER);
    else transport.end();
  }

  /** Reads what came after the end began, with a function that passes messages to `hear`. Data that cannot be read end the wait. */
  read(pass: () => void): void {
    if (!this.#isWaiting) return;
    try {
      pass();
    } catch {
      this.#endStream();
    }
  }

  /** Hears a message that came after the end began. */
  hear(payload: string): void {
    if (!this.#isWaiting) return;
    const message = readMessage(payload);
    const isAnswer = message.type === "invalid-rpc" || message.type === "return";
    if (isAnswer && message.id === QUESTION) this.#endStream();
  }

  /** The stream has closed. */
  end(): void {
    this.#isWaiting = false;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #ask(patience: number): void {
    const question = { type: "emacs-rex", form: NIL, package: undefined, thread: NO_THREAD, id: QUESTION } as const;
    this.#transport.send(encodePieces(printMessagePieces(question)));
    this.#timers.push(setTimeout(() => this.#endStream(), patience));
  }

  #endStream(): void {
    this.#isWaiting = false;
    this.#transport.end();
  }
}
