import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/** Waits until a process does not run any more; the test's own timeout is what ends this if it never does. */
export async function gone(pid: number): Promise<void> {
  while (await isRunning(pid)) await setTimeout(20);
}

async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // Ended, but not yet waited for by whoever inherited it.
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/\) Z /.test(stat);
}
