import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder, and those above it, for this user only. It may be there already.
 *
 * Node's `mkdir` with `recursive` would never come back where the system says of a folder that is there that it is not, as in `/proc`.
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
