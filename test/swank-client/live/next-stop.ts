import type { Stop, SwankClient } from "swank-client";

/** The next stop that comes to a client. */
export function nextStop(client: SwankClient): Promise<Stop> {
  return new Promise((resolve) => {
    const leave = client.on("stop", (stop) => {
      leave();
      resolve(stop);
    });
  });
}
