import { callListener } from "../call-listener.js";

/** Stops listening. Calling it again does nothing. */
export type Unsubscribe = () => void;

/** Called when a listener throws; the other listeners and the emitter go on. */
export type UnhandledListenerError = (error: unknown, event: string) => void;

type Listener<Payload> = (payload: Payload) => void;

/** By default a listener's error becomes a process warning: seen, but deadly to nobody. */
const warn: UnhandledListenerError = (error, event) => {
  const [message, detail] = error instanceof Error ? [error.message, error.stack] : [String(error), ""];
  process.emitWarning(`A listener for "${event}" failed: ${message}`, {
    type: "ListenerWarning",
    detail: detail ?? "",
  });
};

/**
 * Events whose names and payloads are those of one map.
 *
 * Listeners are called at once, in the order they were added. One that throws disturbs nobody else.
 */
export class TypedEmitter<Events extends object> {
  readonly #listeners: { [Name in keyof Events]?: Set<Listener<Events[Name]>> } = {};
  readonly #onListenerError: UnhandledListenerError;

  constructor(onListenerError: UnhandledListenerError = warn) {
    this.#onListenerError = onListenerError;
  }

  /** Adds a listener. */
  on<Name extends keyof Events & string>(event: Name, listener: Listener<Events[Name]>): Unsubscribe {
    const listeners: Set<Listener<Events[Name]>> = this.#listeners[event] ?? new Set();
    this.#listeners[event] = listeners;
    // Its own function per call, so that adding the same function twice and removing it once leaves one.
    const own: Listener<Events[Name]> = (payload) => listener(payload);
    listeners.add(own);
    return () => {
      listeners.delete(own);
    };
  }

  /** Adds a listener for the next event of that name only. */
  once<Name extends keyof Events & string>(event: Name, listener: Listener<Events[Name]>): Unsubscribe {
    const stop = this.on(event, (payload) => {
      stop();
      listener(payload);
    });
    return stop;
  }

  listenerCount(event: keyof Events): number {
    return this.#listeners[event]?.size ?? 0;
  }

  /** Calls the listeners; never throws because of them. */
  protected emit<Name extends keyof Events & string>(event: Name, payload: Events[Name]): void {
    for (const listener of [...(this.#listeners[event] ?? [])]) {
      callListener(listener, payload, (error) => this.reportListenerError(error, event));
    }
  }

  /**
   * Reports an error of the application's code as one of a listener. Never throws.
   *
   * @param event - Names in the report what was being listened to.
   */
  reportListenerError(error: unknown, event: string): void {
    callListener(
      (thrown) => this.#onListenerError(thrown, event),
      error,
      (reporterError) => warn(reporterError, event),
    );
  }
}
