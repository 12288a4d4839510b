import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout } from "node:timers/promises";

/** Milliseconds between two looks at a lock that somebody else holds. */
const POLL_INTERVAL = 100;

/** How to keep two processes from doing the same work at once. */
export interface ExclusiveWork<Result> {
  /** A file that exists while somebody works. */
  readonly lockFile: string;
  /** Milliseconds after which a lock means nothing. */
  readonly staleAfter: number;
  readonly signal: AbortSignal | undefined;
  /** The result, if somebody else has finished the work meanwhile. */
  found(): Promise<Result | undefined>;
  /** Does the work. It must do no harm when done by two at once, since a lock is a courtesy and can be lost. */
  work(): Promise<Result>;
}

/**
 * Does the work, or waits for another process that does it.
 *
 * A lock whose process is gone, or that is too old, is taken away. Where no lock can be made, the work is done without.
 *
 * @throws whatever `work` throws; an `AbortError` when the signal is aborted while waiting
 */
export async function doExclusively<Result>(task: ExclusiveWork<Result>): Promise<Result> {
  const patienceEnds = performance.now() + task.staleAfter;
  for (;;) {
    const holdsLock = await takeLock(task.lockFile);
    try {
      const result = await task.found();
      if (result !== undefined) return result;
      if (holdsLock !== false || performance.now() > patienceEnds) return await task.work();
    } finally {
      if (holdsLock) await removeLock(task.lockFile);
    }
    if (await isStale(task)) await removeLock(task.lockFile);
    else await setTimeout(POLL_INTERVAL, undefined, task.signal === undefined ? {} : { signal: task.signal });
  }
}

/** If it stays, it is waited for in vain until it counts as stale, which is all the harm it does. */
async function removeLock(lockFile: string): Promise<void> {
  await rm(lockFile, { force: true }).catch(() => undefined);
}

/** @returns `false` when somebody else has it, `undefined` when there cannot be one. */
async function takeLock(lockFile: string): Promise<boolean | undefined> {
  try {
    await writeFile(lockFile, `${process.pid} ${hostname()}`, { flag: "wx" });
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EEXIST" ? false : undefined;
  }
}

async function isStale({
  lockFile,
  staleAfter,
}: Pick<ExclusiveWork<unknown>, "lockFile" | "staleAfter">): Promise<boolean> {
  try {
    if (Date.now() - (await stat(lockFile)).mtimeMs > staleAfter) return true;
    const [pid, host] = (await readFile(lockFile, "utf8")).split(" ");
    return host === hostname() && !isAlive(Number(pid));
  } catch {
    // Gone by now, or unreadable: taking it again tells.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
