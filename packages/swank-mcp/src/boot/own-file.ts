import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";

/** Does not follow links, and does not block on a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const WRITABLE_BY_OTHERS = 0o022;

const STICKY = 0o1000;

/**
 * Returns the path without links of a folder that only this user can write; `undefined` if there is no such folder. Nobody else can replace
 * the folder or one on the way to it. Stricter than swank-client, which also allows the user's private group: the program starts without it.
 */
export function findOwnFolder(folder: string): string | undefined {
  try {
    const path = realpathSync.native(folder);
    const user = process.getuid?.();
    if (user === undefined) return path;
    const found = lstatSync(path);
    return found.isDirectory() && isOwn(found, user) && isSafePlace(dirname(path), user) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the content of a file that only this user can have written, in a folder that `findOwnFolder` found; `undefined` if there is none. */
export function readOwnFile(folder: string, name: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(join(folder, name), FLAGS);
    const found = fstatSync(file);
    const user = process.getuid?.();
    // Another user can make a hard link to this user's file.
    const isSafe = user === undefined || (found.isFile() && found.nlink === 1 && isOwn(found, user));
    return isSafe ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function isOwn({ uid, mode }: Stats, user: number): boolean {
  return uid === user && (mode & WRITABLE_BY_OTHERS) === 0;
}

function isSafePlace(folder: string, user: number): boolean {
  const { uid, mode } = lstatSync(folder);
  if (uid !== user && uid !== 0) return false;
  // In a sticky folder, such as /tmp, only the owner of a file can replace it.
  if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0) return false;
  const parent = dirname(folder);
  return parent === folder || isSafePlace(parent, user);
}
