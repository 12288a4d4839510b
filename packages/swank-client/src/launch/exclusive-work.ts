import { readFileSync } from "node:fs";
import { rm, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout } from "node:timers/promises";
import { useOwnFile } from "../cache/own-file.js";
import { isGone, thisProcess, type WorkOwner } from "../cache/work-owner.js";

/** Milliseconds between checks of a lock that another process holds. */
const POLL_INTERVAL = 100;

/** Milliseconds between signs of life of a working process: it updates the time of its lock. */
const HEARTBEAT_INTERVAL = 1000;

/** Milliseconds without a sign of life after which a lock is not awaited: its process may be suspended, or the process id reused. */
const SILENCE = 3000;

/** Milliseconds without a sign of life after which a lock is ignored. If the clocks of two machines differ, both may work. */
const STALE = 30_000;

/** Milliseconds to wait for a working process. */
const PATIENCE = 60_000;

/** Number of abandoned locks to remove before giving up. */
const MOST_REMOVALS = 3;

/** Work that two processes should not do at the same time. */
export interface ExclusiveWork<Result> {
  /** A file that exists while a process works, in a folder that only this user can write. */
  readonly lockFile: string;
  readonly signal: AbortSignal | undefined;
  /** The result, if another process has finished the work. */
  found(): Promise<Result | undefined>;
  /** Does the work. Two processes doing it at once must do no harm, because the lock is advisory and can be lost. */
  work(): Promise<Result>;
}

/**
 * Does the work, or waits for another process that is doing it.
 *
 * A lock whose process has ended is removed. If no lock can be made, the work is done without one.
 *
 * @returns `undefined` if another process has the lock and does not finish
 * @throws the errors of `work`; an `AbortError` if the signal is aborted while waiting
 */
export async function doExclusively<Result>(task: ExclusiveWork<Result>): Promise<Result | undefined> {
  const other = new OtherWorker(task.lockFile);
  for (let removals = 0; removals < MOST_REMOVALS; ) {
    const holdsLock = await takeLock(task.lockFile);
    try {
      const result = await task.found();
      if (result !== undefined) return result;
      if (holdsLock !== false) return await withHeartbeat(task);
    } finally {
      if (holdsLock) await removeLock(task.lockFile);
    }
    const state = await other.look();
    if (state === "silent") return undefined;
    if (state === "working")
      await setTimeout(POLL_INTERVAL, undefined, task.signal === undefined ? {} : { signal: task.signal });
    else {
      removals += 1;
      await removeLock(task.lockFile);
    }
  }
  return undefined;
}

async function withHeartbeat<Result>({ lockFile, work }: ExclusiveWork<Result>): Promise<Result> {
  const timer = setInterval(() => {
    const now = new Date();
    utimes(lockFile, now, now).catch(() => undefined);
  }, HEARTBEAT_INTERVAL);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

async function removeLock(lockFile: string): Promise<void> {
  await rm(lockFile, { force: true, recursive: true }).catch(() => undefined);
}

/** @returns `false` if another process has the lock, `undefined` if no lock can be made. */
async function takeLock(lockFile: string): Promise<boolean | undefined> {
  try {
    const { pid, place } = thisProcess();
    await writeFile(lockFile, `${pid} ${hostname()} ${place}`, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EEXIST" ? false : undefined;
  }
}

/** Watches the process that holds a lock. */
class OtherWorker {
  readonly #lockFile: string;
  readonly #patienceEnds = performance.now() + PATIENCE;
  #lastSign = 0;
  #noticed = 0;

  constructor(lockFile: string) {
    this.#lockFile = lockFile;
  }

  /** `gone` if its lock is to be ignored, `silent` if it must not be awaited. */
  async look(): Promise<"working" | "silent" | "gone"> {
    const read = await useOwnFile(this.#lockFile, (file, { mtimeMs }) => ({
      text: readFileSync(file, "utf8"),
      mtimeMs,
    }));
    // It may have finished. Trying to take the lock again will show.
    if (read === undefined) return "working";
    if ("problem" in read) return "gone";
    const { text, mtimeMs } = read.value;
    const age = Math.abs(Date.now() - mtimeMs);
    if (age > STALE || isGone(ownerIn(text))) return "gone";
    if (mtimeMs !== this.#lastSign) {
      this.#noticed = performance.now() - (this.#lastSign === 0 ? age : 0);
      this.#lastSign = mtimeMs;
    }
    const now = performance.now();
    return now - this.#noticed > SILENCE || now > this.#patienceEnds ? "silent" : "working";
  }
}

/** Earlier versions wrote no place. The host name is used instead. */
function ownerIn(text: string): WorkOwner {
  const [pid = "", host, place = host === hostname() ? thisProcess().place : ""] = text.split(" ");
  return { pid: Number(pid), place };
}
