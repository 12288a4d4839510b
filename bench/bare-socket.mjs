import { print, symbol } from "sexp-parser";

/** A connection to an image with nothing but the framing: the minimum cost of any Swank client. */
export class BareSocket {
  #transport;
  #received = Buffer.alloc(0);
  /** Receives every reply. @type {(payload: string) => void} */
  #onReply = () => {};
  /** Receives every stop. @type {(payload: string) => void} */
  #onStop = () => {};
  #lastId = 0;

  /** @param {import("swank-client/protocol").TransportFactory} factory */
  constructor(factory) {
    this.#transport = factory({ onData: (chunk) => this.#take(chunk), onClose: () => {} });
  }

  /**
   * Returns the text of a request to evaluate a form.
   *
   * @param {import("sexp-parser").Sexp} form
   * @param {string} [thread]
   */
  message(form, thread = "t") {
    this.#lastId += 1;
    return `(:emacs-rex ${print(form)} nil ${thread} ${this.#lastId})`;
  }

  /**
   * Sends a message and waits for the next reply.
   *
   * @param {string} message
   * @returns {Promise<string>}
   */
  roundTrip(message) {
    return this.roundTrips([message]);
  }

  /**
   * Sends messages at once and waits for as many replies.
   *
   * @param {readonly string[]} messages
   * @returns {Promise<string>} the last reply
   */
  roundTrips(messages) {
    let missing = messages.length;
    const last = new Promise((resolve) => {
      this.#onReply = (reply) => {
        if (--missing === 0) resolve(reply);
      };
    });
    for (const message of messages) this.#send(message);
    return last;
  }

  /**
   * Sends a request and waits until its thread stops.
   *
   * @param {string} message
   * @returns {Promise<string>} the thread
   */
  stopOf(message) {
    const stopped = new Promise((resolve) => {
      this.#onStop = (payload) => resolve(payload.split(" ", 2)[1] ?? "");
    });
    this.#send(message);
    return stopped;
  }

  /**
   * Sends the request that ends a stop, and waits for the replies to it and to the stopped request.
   *
   * @param {string} message
   * @returns {Promise<void>}
   */
  ending(message) {
    let missing = 2;
    const ended = new Promise((resolve) => {
      this.#onReply = () => {
        if (--missing === 0) resolve(undefined);
      };
    });
    this.#send(message);
    return ended;
  }

  close() {
    this.#transport.destroy();
  }

  /** @param {string} message */
  #send(message) {
    const body = Buffer.from(message);
    const head = Buffer.from(body.length.toString(16).padStart(6, "0"));
    this.#transport.send(Buffer.concat([head, body]));
  }

  /** @param {Uint8Array} chunk */
  #take(chunk) {
    this.#received = this.#received.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= 6) {
      const end = 6 + Number.parseInt(this.#received.toString("latin1", 0, 6), 16);
      if (this.#received.length < end) return;
      const payload = this.#received.toString("utf8", 6, end);
      this.#received = this.#received.subarray(end);
      if (payload.startsWith("(:return")) this.#onReply(payload);
      else if (payload.startsWith("(:debug ")) this.#onStop(payload);
    }
  }
}

/** `(cl:+ 1 2)` */
export const SUM = [symbol("cl:+"), 1, 2];
