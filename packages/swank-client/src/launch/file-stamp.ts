import { statSync } from "node:fs";
import { attempted } from "../base/attempted.js";

/**
 * A text that changes when a file changes: its path, size and time.
 *
 * @returns `undefined` if there is no such file.
 */
export function fileStamp(path: string): string | undefined {
  const found = attempted(() => statSync(path, { throwIfNoEntry: false }));
  return found && `${path} ${found.size} ${found.mtimeMs}`;
}
