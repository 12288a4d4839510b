import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Returns a folder for files that are slow to build, such as cores. It is kept between test runs and shared by parallel test processes.
 * `npm test` names its parent folder, because each of these processes has its own TMPDIR.
 */
export function testCache(name: string): string {
  const folder = join(process.env["SWANK_TEST_CACHE"] ?? join(tmpdir(), "swank-test-cache"), name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}
