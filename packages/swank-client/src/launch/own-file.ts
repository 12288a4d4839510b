import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Distrust, FileOwner } from "./file-owner.js";

/** Follows no link, and does not wait where the file is a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What was done with a file that only this user can have written, or why nothing was. */
export type OwnFileResult<Value> = { readonly value: Value } | { readonly distrust: Distrust };

/**
 * Opens a file, and uses it if only this user can have written it. What is checked and what is used are the same file, whatever happens to
 * its name meanwhile.
 *
 * @returns `undefined` when there is no such file
 */
export async function useOwnFile<Value>(
  path: string,
  use: (file: FileHandle, found: Stats) => Promise<Value>,
): Promise<OwnFileResult<Value> | undefined> {
  const [owner, file] = await Promise.all([FileOwner.current(), openFile(path)]);
  if (file === undefined || typeof file === "string") return file === undefined ? undefined : { distrust: file };
  try {
    const found = await file.stat();
    const distrust = owner?.fileDistrust(found);
    return distrust === undefined ? { value: await use(file, found) } : { distrust };
  } finally {
    await file.close();
  }
}

/** The text of such a file; `undefined` when there is none that can be used. */
export async function readOwnFile(path: string): Promise<string | undefined> {
  const result = await useOwnFile(path, (file) => file.readFile("utf8"));
  return result !== undefined && "value" in result ? result.value : undefined;
}

/** What is wrong with a folder and everything in it, if anything but this user can have written it. */
export async function treeDistrust(folder: string): Promise<Distrust | undefined> {
  const owner = await FileOwner.current();
  if (owner === undefined) return undefined;
  const distrust = owner.folderDistrust(await lstat(folder));
  if (distrust !== undefined) return distrust;
  const names = await readdir(folder, { recursive: true });
  const all = await Promise.all(
    names.map(async (name) => {
      const found = await lstat(join(folder, name));
      return found.isDirectory() ? owner.folderDistrust(found) : owner.fileDistrust(found);
    }),
  );
  const index = all.findIndex((each) => each !== undefined);
  return index < 0 ? undefined : `has ${names[index]} in it, which ${all[index]}`;
}

/** The reason when it cannot be opened; `undefined` when it is not there. */
async function openFile(path: string): Promise<FileHandle | Distrust | undefined> {
  try {
    return await open(path, FLAGS);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return undefined;
    return code === "ELOOP" || code === "EMLINK" ? "is a link" : `cannot be read (${String(code)})`;
  }
}
