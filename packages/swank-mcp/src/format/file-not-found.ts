import type { FileNotFound } from "../image/lisp-port.js";

/** The answer about a file that the image does not have, and a second block with similar ones, if there are any. */
export function fileNotFoundBlocks({ file, similar }: FileNotFound): string[] {
  const hint = similar.length === 0 ? [] : [`Similar files: ${similar.join(", ")}`];
  return [`The image has no file ${file}`, ...hint];
}
