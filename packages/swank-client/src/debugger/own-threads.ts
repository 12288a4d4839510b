import { type Decoder, decode } from "sexp-parser";
import type { Listeners } from "../call-listener.js";
import { unlessOther } from "../runtime/unless-other.js";
import type { WriteStringMessage } from "../wire/messages.js";

const { integer, map, plist, string, tagged, tuple } = decode;

/** A thread that this client's code started, and that an error ended. */
export interface EndedThread {
  /** Swank's id of the thread. */
  readonly thread: number;
  readonly threadName: string;
  /** The condition's type and message. */
  readonly type: string;
  readonly message: string;
}

/** `(:ended PLIST)`, the target of a message of lisp/own-threads.lisp. */
const endedThread: Decoder<EndedThread> = tagged({
  ended: map(
    tuple(plist({ thread: integer, name: string, type: string, message: string })),
    ([{ name, ...rest }]): EndedThread => ({ ...rest, threadName: name }),
  ),
});

/** Brings news of the threads that one client's code started. */
export class OwnThreads {
  readonly #listeners: Listeners<EndedThread>;

  constructor(listeners: Listeners<EndedThread>) {
    this.#listeners = listeners;
  }

  /** @returns A function that ends this. */
  onEnded(listener: (ended: EndedThread) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Takes in a message that may tell of such a thread. */
  receive({ target }: WriteStringMessage): void {
    const ended = unlessOther(endedThread, target);
    if (ended !== undefined) this.#listeners.tell(ended);
  }
}
