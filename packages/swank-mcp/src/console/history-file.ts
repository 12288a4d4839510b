import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** Most lines that are remembered. */
export const HISTORY_SIZE = 1000;

/** Where the console keeps what was typed: in the user's state folder (XDG Base Directory Specification). */
export function historyPath(environment: Readonly<Record<string, string | undefined>>): string {
  const home = environment["HOME"] || homedir();
  return join(environment["XDG_STATE_HOME"] || join(home, ".local", "state"), "swank-toolkit", "console-history");
}

/** Lines typed in earlier runs. A file that cannot be read or written is nobody's trouble: the history is then this run's. */
export class HistoryFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The lines of earlier runs, the latest first, as readline wants them. */
  load(): string[] {
    const lines = this.#read();
    if (lines.length > 2 * HISTORY_SIZE) quietly(() => writeFileSync(this.#path, text(lines.slice(-HISTORY_SIZE))));
    return lines.slice(-HISTORY_SIZE).reverse();
  }

  /** Remembers a line at once: nobody knows how the run ends. */
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

/** The state folder and the two above it; a home that is not there is not made. */
function makeFolders(folder: string): void {
  for (const path of [dirname(dirname(folder)), dirname(folder), folder])
    quietly(() => mkdirSync(path, { mode: 0o700 }));
}

function quietly(action: () => void): void {
  try {
    action();
  } catch {
    // The history is a convenience.
  }
}
