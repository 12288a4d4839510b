import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/** Waits until a process has ended. The test's timeout bounds the wait. */
export async function gone(pid: number): Promise<void> {
  while (await isRunning(pid)) await setTimeout(20);
}

/** Returns the peak resident memory of a process in MB; `undefined` if the system does not report it. */
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
  // A zombie has ended, but its parent has not waited for it yet.
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/\) Z /.test(stat);
}
