import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder, one for each user, that keeps cores and compiled Lisp between test runs. */
export const TEST_CACHE = process.env["SWANK_TEST_CACHE"] || join(tmpdir(), `swank-test-cache-${user()}`);

/**
 * Returns the environment of a process that runs tests. It separates the files that the tests compile from the user's.
 *
 * @returns {Record<string, string | undefined>}
 */
export function testEnvironment() {
  return { ...process.env, SWANK_TEST_CACHE: TEST_CACHE, XDG_CACHE_HOME: TEST_CACHE };
}

function user() {
  return process.getuid?.() ?? "user";
}
