import type { DebuggerSession, SwankClient } from "swank-client";

/** The next stop that comes to a client. */
export function nextStop(client: SwankClient): Promise<DebuggerSession> {
  return new Promise((resolve) => {
    const leave = client.onStop((stop) => {
      leave();
      resolve(stop);
    });
  });
}
