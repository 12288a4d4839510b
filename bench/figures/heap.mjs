import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { inRepository } from "../../scripts/setup/paths.mjs";
import { ServerProcess } from "../server-process.mjs";

const WARM_UP = 5000;
const CALLS = 100_000;
const AT_ONCE = 16;
/** A value of 15,000 characters. */
const CODE = "(make-string 15000 :initial-element #\\x)";
/** Milliseconds between looks for the probe's file, and the number of looks. */
const PAUSE = 50;
const LOOKS = 600;

/**
 * Measures how much the server's heap grows with each call, after a full garbage collection.
 *
 * @returns {Promise<import("../measure.mjs").Figure[]>}
 */
export async function heap() {
  const folder = await mkdtemp(join(tmpdir(), "swank-bench-"));
  const file = join(folder, "heap");
  const server = new ServerProcess([file], inRepository("bench/heap-server.mjs"));
  try {
    await server.initialize();
    await calls(server, WARM_UP);
    const before = await probe(server, file);
    await calls(server, CALLS);
    const after = await probe(server, file);
    const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
    return [
      {
        name: "heap of the server",
        value: Math.round((after - before) / CALLS),
        unit: "bytes a call",
        of: `${CALLS} calls with answers of 15 kB (${megabytes(after)})`,
        against: `before them, after ${WARM_UP} calls (${megabytes(before)})`,
      },
    ];
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

/**
 * @param {ServerProcess} server
 * @param {number} count
 */
async function calls(server, count) {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await server.request("tools/call", { name: "evaluate-lisp", arguments: { code: CODE } });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/**
 * @param {ServerProcess} server
 * @param {string} file
 * @returns {Promise<number>} bytes
 */
async function probe(server, file) {
  await rm(file, { force: true });
  server.signal("SIGUSR2");
  for (let look = 0; look < LOOKS; look++) {
    await setTimeout(PAUSE);
    const bytes = Number(await readFile(file, "utf8").catch(() => ""));
    if (bytes > 0) return bytes;
  }
  throw new Error("The server did not report its heap.");
}
