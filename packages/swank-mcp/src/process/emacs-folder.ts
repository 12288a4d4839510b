import { fileURLToPath } from "node:url";

/** The folder of swank-mcp.el. It has the same place relative to the bundle and to this module. */
export function emacsFolder(): string {
  return fileURLToPath(new URL("../../emacs", import.meta.url));
}
