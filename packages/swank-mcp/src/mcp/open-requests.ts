import { cancelledId, isId, isRequest, isResponse, LISTEN, type Message, type MessageId } from "./sent-message.js";

/** The requests in both directions that have no answer yet. */
export class OpenRequests {
  /** Ids of the client's requests. */
  readonly #served = new Set<MessageId>();
  /** Ids of the server's requests. */
  readonly #asked = new Set<MessageId>();
  #onIdle: () => void = () => {};

  /** Notes a message of the client. => false for a request whose id is that of an open request */
  received(message: Message): boolean {
    if (isRequest(message)) {
      if (this.#served.has(message.id)) return false;
      // It is answered only when the connection ends, so that nothing waits for its answer.
      if (message.method !== LISTEN) this.#served.add(message.id);
    } else if (isResponse(message)) this.#answered(message.id);
    else this.#end(cancelledId(message));
    return true;
  }

  /** Notes a message of the server. */
  sent(message: Message): void {
    if (isRequest(message)) this.#asked.add(message.id);
    else if (isResponse(message)) this.#end(message.id);
    else this.#answered(cancelledId(message));
  }

  /** Ids of the server's requests that the client has not answered. */
  get asked(): readonly MessageId[] {
    return [...this.#asked];
  }

  /** Resolves when every request of the client has been answered or cancelled. The client may not have read the answers yet. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#served.size === 0) resolve();
    });
  }

  #end(id: unknown): void {
    if (isId(id)) this.#served.delete(id);
    if (this.#served.size === 0) this.#onIdle();
  }

  /** Some clients return a numeric id as a string. */
  #answered(answered: unknown): void {
    for (const id of this.#asked) if (String(id) === String(answered)) this.#asked.delete(id);
  }
}
