import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The user's cache folder in tests. It is kept between test runs and shared by parallel test processes. `npm test` names it, because each of these
 * processes has its own TMPDIR.
 */
export const USER_CACHE = process.env["SWANK_TEST_CACHE"] ?? join(tmpdir(), "swank-test-cache");

/** Returns a folder in it for files that are slow to build, such as cores. */
export function testCache(name: string): string {
  const folder = join(USER_CACHE, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Where servers, programs and tests keep what launching builds, as by default: one folder, since each would build it again. */
export const LAUNCH_CACHE = testCache("swank-toolkit");
