import type { ImageAddress } from "./image-address.js";

/** How to reach a Swank that listens only on its own machine. */
export function tunnelTo({ host, port }: ImageAddress): string {
  return `forward its port, ssh -N -L ${port}:127.0.0.1:${port} ${host}, and start swank-mcp with --attach ${port}`;
}
