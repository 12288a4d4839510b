import { appendFileSync } from "node:fs";

/** Writes one line of log. Standard output belongs to MCP. */
export type Log = (line: string) => void;

/** Where the log goes. */
export interface LogTarget {
  readonly logFile: string | undefined;
  /** To standard error as well. */
  readonly verbose: boolean;
}

/** A log that costs nothing when it goes nowhere. A file that cannot be written is said once, on standard error. */
export function openLog({ logFile, verbose }: LogTarget): Log {
  let file = logFile;
  return (line) => {
    if (file === undefined && !verbose) return;
    const text = `${new Date().toISOString()} ${process.pid} ${line}\n`;
    if (verbose) process.stderr.write(text);
    if (file === undefined) return;
    try {
      // What is evaluated is in it: if this makes the file, no other user can read it.
      appendFileSync(file, text, { mode: 0o600 });
    } catch (error) {
      file = undefined;
      process.stderr.write(`swank-mcp: no log is written: ${error instanceof Error ? error.message : error}\n`);
    }
  };
}
