import { fileURLToPath } from "node:url";

/**
 * Returns the absolute path of a file or folder in the repository.
 *
 * @param {string} relative path from the repository's root; the root itself by default
 */
export function inRepository(relative = "") {
  return fileURLToPath(new URL(`../../${relative}`, import.meta.url));
}
