import { appendOwn } from "./append-own.js";
import { VERSION } from "./version.js";

/** Writes one line to the log, which is never standard output: that belongs to MCP. */
export type Log = (line: string) => void;

/** The first line of a run: the program's version, and the image that it will use. */
export function startLine({ command, attach, share }: Started): string {
  const image = attach === undefined ? "own image" : `attached to ${attach.host} ${attach.port}`;
  const shared = share === undefined ? "" : ", shared";
  return `swank-mcp ${VERSION}, Node ${process.version}: ${command}, ${image}${shared}`;
}

/** Settings that the first line shows. */
export interface Started {
  readonly command: string;
  readonly attach: { readonly host: string; readonly port: number } | undefined;
  readonly share: number | undefined;
}

/** Where the log goes. */
export interface LogTarget {
  readonly logFile: string | undefined;
  /** Whether to write to standard error, too. */
  readonly verbose: boolean;
}

/**
 * Opens the log; does nothing per line when there is no target. The first failure to write the file, or a file of another user, is
 * reported on standard error and ends the log.
 */
export function openLog({ logFile, verbose }: LogTarget): Log {
  let file = logFile;
  return (line) => {
    if (file === undefined && !verbose) return;
    const text = `${new Date().toISOString()} ${process.pid} ${line}\n`;
    if (verbose) process.stderr.write(text);
    if (file === undefined) return;
    try {
      // The log contains the image's output, which may be private.
      appendOwn(file, text);
    } catch (error) {
      file = undefined;
      process.stderr.write(`swank-mcp: the log cannot be written: ${error instanceof Error ? error.message : error}\n`);
    }
  };
}
