import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/** Waits until a process does not run any more; the test's own timeout is what ends this if it never does. */
export async function gone(pid: number): Promise<void> {
  while (await isRunning(pid)) await setTimeout(20);
}

/** The most memory that a process has had resident so far, in MB; `undefined` where the system does not say. */
export async function peakMemory(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
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
