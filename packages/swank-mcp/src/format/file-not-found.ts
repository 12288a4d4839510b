import type { FileNotFound } from "../image/lisp-port.js";
import { fileName } from "../text/cut.js";

/** The answer about a file that the image does not have, and a second block with similar ones, if there are any. */
export function fileNotFoundBlocks({ file, similar }: FileNotFound): string[] {
  const hint = similar.length === 0 ? [] : [`Similar files: ${similar.map((each) => fileName(each)).join(", ")}`];
  return [`The image has no file ${fileName(file)}`, ...hint];
}
