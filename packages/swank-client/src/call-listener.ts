/** Gets what code of the application's throws, or rejects with. */
export type Report = (error: unknown) => void;

/** Calls a listener of the application's. Never throws: an error goes to `report`, and so does the rejection of an async listener. */
export function callListener<Payload>(listener: (payload: Payload) => unknown, payload: Payload, report: Report): void {
  try {
    catchRejection(listener(payload), report);
  } catch (error) {
    report(error);
  }
}

/** An async function fits the type of a listener, and its rejection would end the process. */
export function catchRejection(result: unknown, report: Report): void {
  if (typeof result !== "object" || result === null || !("then" in result)) return;
  Promise.resolve(result).catch(report);
}

/** Listeners of the application's to one kind of event. One that fails disturbs nobody else. */
export class Listeners<Payload> {
  readonly #listeners = new Set<(payload: Payload) => void>();
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  /** @returns A function that removes it again. */
  add(listener: (payload: Payload) => void): () => void {
    // Its own function per call, so that adding the same function twice and removing it once leaves one.
    const own = (payload: Payload) => listener(payload);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Calls them, in the order in which they were added. */
  tell(payload: Payload): void {
    for (const listener of [...this.#listeners]) callListener(listener, payload, this.#report);
  }
}
