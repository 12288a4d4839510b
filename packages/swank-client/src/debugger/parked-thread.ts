import type { DebugMessage } from "../wire/messages.js";

/** A thread at one level of the debugger, from the message that announces it to the one that takes it back. */
export class ParkedThread {
  readonly message: DebugMessage;
  readonly #left = new AbortController();

  constructor(message: DebugMessage) {
    this.message = message;
  }

  get thread(): number {
    return this.message.thread;
  }

  get level(): number {
    return this.message.level;
  }

  /** Aborted when the thread leaves that level, or the connection closes. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  get isLive(): boolean {
    return !this.#left.signal.aborted;
  }

  leave(): void {
    this.#left.abort();
  }
}
