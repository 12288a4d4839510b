import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder, and its parents, for this user only. The folder may already exist.
 *
 * Node's recursive `mkdir` never returns where the system reports an existing folder as missing, as in `/proc`.
 *
 * @throws the system's error
 */
export function makeFolder(folder: string): Promise<void> {
  return make(folder, dirname(folder) !== folder);
}

async function make(folder: string, mayMakeParent: boolean): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || !mayMakeParent) throw error;
    await makeFolder(dirname(folder));
    await make(folder, false);
  }
}
