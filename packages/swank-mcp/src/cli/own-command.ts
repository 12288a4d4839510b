import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { shellWord } from "../text/shell-word.js";

const NAME = "swank-mcp";

/** The parts of a process that show how it was started. */
export interface Started {
  /** Path of the running program. */
  readonly program: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * A command that starts this program with `words` where it was started now: through npm in a clone, by name if it is on the PATH, and
 * otherwise by its path.
 */
export function ownCommand(words: string, { program = NAME, environment }: Started): string {
  if (environment["npm_lifecycle_event"] === "start") return `npm start -- ${words}`;
  const folders = (environment["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  if (folders.some((folder) => isExecutable(join(folder, NAME)))) return `${NAME} ${words}`;
  const path = resolve(program);
  return `${isExecutable(path) ? "" : "node "}${shellWord(path)} ${words}`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
