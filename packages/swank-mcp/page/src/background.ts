import type { Connection } from "./connection.js";

/** Milliseconds after which a page in the background stops listening, if another one does. */
const DELAY = 1000;

/**
 * Lets only one of the pages in the background listen to the server, whose title then shows what agents ask: a browser opens at most six connections to
 * a server, and further pages would wait. One that comes to the front gets the state again.
 */
export function listenInTurn(connection: Connection): void {
  let ending: AbortController | undefined;
  document.addEventListener("visibilitychange", () => {
    ending?.abort();
    ending = new AbortController();
    if (document.hidden) void leave(connection, ending.signal);
    else connection.open();
  });
}

/** Waits for its turn until the page comes to the front. */
async function leave(connection: Connection, signal: AbortSignal): Promise<void> {
  const leaving = setTimeout(() => connection.close(), DELAY);
  signal.addEventListener("abort", () => clearTimeout(leaving));
  const listen = () => {
    clearTimeout(leaving);
    connection.open();
    return new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  };
  await navigator.locks.request("background", { signal }, listen).catch(() => undefined);
}
