import { check, checkEvent, type EventNames } from "./options.js";

/** Stops listening. Calling it again does nothing. */
export type Unsubscribe = () => void;

/** Called when a listener throws. The other listeners are still called. */
export type UnhandledListenerError = (error: unknown, event: string) => void;

type Listener<Payload> = (payload: Payload) => void;

/** The default: a listener's error becomes a process warning, and does not end the process. */
const warn: UnhandledListenerError = (error, event) => {
  const [message, detail] = error instanceof Error ? [error.message, error.stack] : [String(error), ""];
  process.emitWarning(`A listener for "${event}" failed: ${message}`, {
    type: "ListenerWarning",
    detail: detail ?? "",
  });
};

const checkListener = check.function();

/**
 * An event emitter whose event names and payload types come from a map.
 *
 * Listeners are called synchronously, in the order they were added. An error of one does not affect the others.
 */
export class TypedEmitter<Events extends object> {
  /** A change replaces the list, so that `emit` calls the listeners that it began with. */
  readonly #listeners: { [Name in keyof Events]?: readonly Listener<Events[Name]>[] } = {};
  readonly #names: EventNames<Events>;
  readonly #onListenerError: UnhandledListenerError;

  /** @param names - The names of all events. */
  constructor(names: EventNames<Events>, onListenerError: UnhandledListenerError = warn) {
    this.#names = names;
    this.#onListenerError = onListenerError;
  }

  /** Adds a listener. @throws SwankError `INVALID_ARGUMENT` for an unknown event. */
  on<Name extends keyof Events & string>(event: Name, listener: Listener<Events[Name]>): Unsubscribe {
    checkEvent(event, this.#names);
    checkListener("A listener", listener);
    // A new function per call, so that a function that was added twice and removed once stays once.
    const own: Listener<Events[Name]> = (payload) => listener(payload);
    this.#listeners[event] = [...(this.#listeners[event] ?? []), own];
    return () => {
      this.#listeners[event] = this.#listeners[event]?.filter((other) => other !== own) ?? [];
    };
  }

  /** Adds a listener for the next event only. @throws SwankError `INVALID_ARGUMENT` for an unknown event. */
  once<Name extends keyof Events & string>(event: Name, listener: Listener<Events[Name]>): Unsubscribe {
    checkListener("A listener", listener);
    const stop = this.on(event, (payload) => {
      stop();
      listener(payload);
    });
    return stop;
  }

  /** The number of listeners of an event. */
  listenerCount(event: keyof Events): number {
    return this.#listeners[event]?.length ?? 0;
  }

  /** Calls the listeners. Never throws their errors. */
  protected emit<Name extends keyof Events & string>(event: Name, payload: Events[Name]): void {
    const listeners = this.#listeners[event];
    if (listeners === undefined || listeners.length === 0) return;
    const report = (error: unknown) => this.reportListenerError(error, event);
    for (const listener of listeners) callListener(listener, payload, report);
  }

  /**
   * Reports an error of the application's code like one of a listener. Never throws.
   *
   * @param event - The name of the event in the report.
   */
  reportListenerError(error: unknown, event: string): void {
    callListener(
      (thrown) => this.#onListenerError(thrown, event),
      error,
      (reporterError) => warn(reporterError, event),
    );
  }
}

/** Receives an error that the application's code threw or rejected with. */
type Report = (error: unknown) => void;

/** Calls a listener of the application. Never throws: errors, and rejections of an async listener, go to `report`. */
export function callListener<Payload>(listener: (payload: Payload) => unknown, payload: Payload, report: Report): void {
  try {
    catchRejection(listener(payload), report);
  } catch (error) {
    report(error);
  }
}

/** Reports a rejection. An async function has the type of a listener, and an unhandled rejection would end the process. */
export function catchRejection(result: unknown, report: Report): void {
  if (typeof result !== "object" || result === null || !("then" in result)) return;
  Promise.resolve(result).catch(report);
}
