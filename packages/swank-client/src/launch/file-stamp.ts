import { stat } from "node:fs/promises";

/**
 * What changes when a file does: path, size and time.
 *
 * @returns `undefined` when there is no such file.
 */
export async function fileStamp(path: string): Promise<string | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    return `${path} ${size} ${mtimeMs}`;
  } catch {
    return undefined;
  }
}
