import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** Most lines in the history. */
export const HISTORY_SIZE = 1000;

/** The path of the console's history, in the user's state folder (XDG Base Directory Specification). */
export function historyPath(environment: Readonly<Record<string, string | undefined>>): string {
  const home = environment["HOME"] || homedir();
  return join(environment["XDG_STATE_HOME"] || join(home, ".local", "state"), "swank-toolkit", "console-history");
}

/** The lines typed in earlier runs. If the file cannot be read or written, the history has only this run's lines. */
export class HistoryFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The lines of earlier runs, the latest first, as readline expects them. */
  load(): string[] {
    const lines = this.#read();
    if (lines.length > 2 * HISTORY_SIZE) quietly(() => writeFileSync(this.#path, text(lines.slice(-HISTORY_SIZE))));
    return lines.slice(-HISTORY_SIZE).reverse();
  }

  /** Saves a line at once, so that a crash does not lose it. */
  add(line: string): void {
    if (line.trim() === "") return;
    quietly(() => {
      makeFolders(dirname(this.#path));
      appendFileSync(this.#path, text([line]), { mode: 0o600 });
    });
  }

  #read(): string[] {
    try {
      return readFileSync(this.#path, "utf8")
        .split("\n")
        .filter((line) => line !== "");
    } catch {
      return [];
    }
  }
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** Creates the history's folder and the two above it, but not the home folder. */
function makeFolders(folder: string): void {
  for (const path of [dirname(dirname(folder)), dirname(folder), folder])
    quietly(() => mkdirSync(path, { mode: 0o700 }));
}

function quietly(action: () => void): void {
  try {
    action();
  } catch {
    // The console works without a history.
  }
}
