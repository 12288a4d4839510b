import { stat } from "node:fs/promises";

/**
 * A text that changes when a file changes: its path, size and time.
 *
 * @returns `undefined` if there is no such file.
 */
export async function fileStamp(path: string): Promise<string | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    return `${path} ${size} ${mtimeMs}`;
  } catch {
    return undefined;
  }
}
