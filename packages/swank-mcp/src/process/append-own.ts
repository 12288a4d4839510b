import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from "node:fs";

/** Does not follow links, and does not block if the file is a pipe. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;
const REMEDY = "Name a file that you can write, in a folder that exists, with --log-file.";

/**
 * Appends text to a file of this user, and makes it unreadable for others. Creates the file if it does not exist. A link or another
 * user's file is an error: in a shared folder any user can place one.
 *
 * @throws Error whose message names the path
 */
export function appendOwn(path: string, text: string): void {
  const file = openOwn(path);
  try {
    const { uid, mode, nlink } = fstatSync(file);
    // Systems without user ids have no file modes either.
    const user = process.getuid?.();
    if (user !== undefined && uid !== user) throw new Error(`${path} belongs to another user. ${REMEDY}`);
    if (nlink > 1) throw new Error(`${path} has more than one hard link. ${REMEDY}`);
    if (user !== undefined && (mode & OTHERS) !== 0) fchmodSync(file, OWNER_ONLY);
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

function openOwn(path: string): number {
  try {
    return openSync(path, FLAGS, OWNER_ONLY);
  } catch (error) {
    const isLink = error instanceof Error && "code" in error && error.code === "ELOOP";
    if (isLink)
      throw new Error(`${path} is a symbolic link, which is not followed. Name the file itself with --log-file.`);
    throw new Error(`${error instanceof Error ? error.message : String(error)}. ${REMEDY}`);
  }
}
