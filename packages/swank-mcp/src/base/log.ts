import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from "node:fs";
import { inspect } from "node:util";
import type { Config } from "./config.js";
import { VERSION } from "./version.js";

/** Does not follow links, and does not block if the file is a pipe. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const OWNER_ONLY = 0o600;

/** The rights of other users in a file's mode. */
export const OTHERS = 0o077;

/**
 * Appends text to a file of this user, and makes it unreadable for others. Creates the file if it does not exist. A link or another
 * user's file is an error: in a shared folder any user can place one.
 *
 * @param option - The option that names the file, for messages.
 * @throws Error whose message names the path; a part of the text may then be written
 */
export function appendOwn(path: string, text: string, option = "--log-file"): void {
  const file = openOwn(path, option);
  try {
    const { uid, mode, nlink } = fstatSync(file);
    // Systems without user ids have no file modes either.
    const user = process.getuid?.();
    if (user !== undefined && uid !== user) throw new Error(`${path} belongs to another user. ${remedy(option)}`);
    if (nlink > 1) throw new Error(`${path} has more than one hard link. ${remedy(option)}`);
    if (user !== undefined && (mode & OTHERS) !== 0) fchmodSync(file, OWNER_ONLY);
    if (text !== "") writeAll(file, path, Buffer.from(text));
  } finally {
    closeSync(file);
  }
}

/** Writes once, unless the system takes only a part. */
function writeAll(file: number, path: string, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; )
    try {
      written += writeSync(file, bytes, written);
    } catch (error) {
      throw new Error(`${path} could not be written: ${reasonOf(error)}`);
    }
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function remedy(option: string): string {
  return `Name a file that you can write, in a folder that exists, with ${option}.`;
}

function openOwn(path: string, option: string): number {
  try {
    return openSync(path, FLAGS, OWNER_ONLY);
  } catch (error) {
    const isLink = error instanceof Error && "code" in error && error.code === "ELOOP";
    if (isLink)
      throw new Error(`${path} is a symbolic link, which is not followed. Name the file itself with ${option}.`);
    throw new Error(`${reasonOf(error)}. ${remedy(option)}`);
  }
}

/** Writes one line to the log, which is never standard output: that belongs to MCP. */
export type Log = (line: string) => void;

/** The first line of a run: the program's version, and the image that it will use. */
export function startLine({ command, attach, share }: Pick<Config, "command" | "attach" | "share">): string {
  const image = attach === undefined ? "own image" : `attached to ${attach.host} ${attach.port}`;
  const shared = share === undefined ? "" : ", shared";
  return `swank-mcp ${VERSION}, Node ${process.version}: ${command}, ${image}${shared}`;
}

/**
 * Opens the log; does nothing per line when there is no target. The first failure to write the file, or a file of another user, is
 * reported on standard error and ends the log.
 */
export function openLog({ logFile, verbose }: Pick<Config, "logFile" | "verbose">): Log {
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
      process.stderr.write(`swank-mcp: the log cannot be written: ${reasonOf(error)}\n`);
    }
  };
}

/** Called with an error that no code of this package expected. */
export type OnDefect = (error: unknown) => void;

/** Writes defects with their stacks and causes to standard error and the log. The answer to the agent has only the message. */
export function defectReporter(log: Log, isLogShown: boolean): OnDefect {
  return (error) => {
    const text = `defect: ${inspect(error)}`;
    log(text);
    if (!isLogShown) process.stderr.write(`swank-mcp: ${text}\n`);
  };
}
