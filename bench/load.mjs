import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";

/** Part of the processors' time that other programs may take before figures become doubtful. */
const MOST_BUSY = 0.2;

/** Busy and total time of all processors, in clock ticks; undefined where the system does not tell. */
function processorTime() {
  try {
    const [, ...ticks] = readFileSync("/proc/stat", "utf8").split("\n", 1)[0]?.trim().split(/\s+/).map(Number) ?? [];
    const [idle = 0, waiting = 0] = ticks.slice(3, 5);
    const total = ticks.slice(0, 8).reduce((sum, time) => sum + time, 0);
    return { busy: total - idle - waiting, total };
  } catch {
    return undefined;
  }
}

/**
 * Measures the load that other programs put on the machine. Call it while this program does nothing else.
 *
 * @param {number} milliseconds
 * @returns {Promise<{ busy: number, average: number, processors: number, isTooLoaded: boolean }>} `busy`: the part of all processors' time
 */
export async function otherLoad(milliseconds = 1000) {
  const [average = 0] = loadavg();
  const processors = availableParallelism();
  const before = processorTime();
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  const after = processorTime();
  const busy =
    before === undefined || after === undefined || after.total === before.total
      ? Math.min(1, average / processors)
      : (after.busy - before.busy) / (after.total - before.total);
  return { busy, average, processors, isTooLoaded: busy > MOST_BUSY };
}
