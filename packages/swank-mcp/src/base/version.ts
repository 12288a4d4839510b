import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const VERSION = readVersion(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

function readVersion(text: string): string {
  const description: unknown = JSON.parse(text);
  const version =
    typeof description === "object" && description !== null && "version" in description
      ? description.version
      : undefined;
  if (typeof version !== "string") throw new Error("The package.json of swank-mcp has no version.");
  return version;
}

/** The folder of swank-mcp.el. It has the same place relative to the bundle and to this module. */
export function emacsFolder(): string {
  return fileURLToPath(new URL("../../emacs", import.meta.url));
}
