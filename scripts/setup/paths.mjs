import { fileURLToPath } from "node:url";

/**
 * Absolute path of something in the repository.
 *
 * @param {string} relative path from the repository's root; none gives the root itself
 */
export function inRepository(relative = "") {
  return fileURLToPath(new URL(`../../${relative}`, import.meta.url));
}
