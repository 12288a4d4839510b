import { print, symbol } from "sexp-parser";

/** A connection to an image with nothing but the framing: the minimum cost of any Swank client. */
export class BareSocket {
  #transport;
  #received = Buffer.alloc(0);
  /** @type {((payload: string) => void) | undefined} */
  #waiting;
  #lastId = 0;

  /** @param {import("swank-client/protocol").TransportFactory} factory */
  constructor(factory) {
    this.#transport = factory({ onData: (chunk) => this.#take(chunk), onClose: () => {} });
  }

  /**
   * Returns the text of a request to evaluate a form.
   *
   * @param {import("sexp-parser").Sexp} form
   */
  message(form) {
    this.#lastId += 1;
    return `(:emacs-rex ${print(form)} nil t ${this.#lastId})`;
  }

  /**
   * Sends a message and waits for the next reply.
   *
   * @param {string} message
   * @returns {Promise<string>}
   */
  roundTrip(message) {
    const body = Buffer.from(message);
    const head = Buffer.from(body.length.toString(16).padStart(6, "0"));
    const reply = new Promise((resolve) => {
      this.#waiting = resolve;
    });
    this.#transport.send(Buffer.concat([head, body]));
    return reply;
  }

  close() {
    this.#transport.destroy();
  }

  /** @param {Uint8Array} chunk */
  #take(chunk) {
    this.#received = this.#received.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= 6) {
      const end = 6 + Number.parseInt(this.#received.toString("latin1", 0, 6), 16);
      if (this.#received.length < end) return;
      const payload = this.#received.toString("utf8", 6, end);
      this.#received = this.#received.subarray(end);
      if (payload.startsWith("(:return")) this.#waiting?.(payload);
    }
  }
}

/** `(cl:+ 1 2)` */
export const SUM = [symbol("cl:+"), 1, 2];
