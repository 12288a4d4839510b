import { rm, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout } from "node:timers/promises";
import { useOwnFile } from "./own-file.js";
import { isGone, thisProcess, type WorkOwner } from "./work-owner.js";

/** Milliseconds between two looks at a lock that another process holds. */
const POLL_INTERVAL = 100;

/** Milliseconds between two signs of life that a process at work gives: it sets the time of its lock. */
const SIGN_INTERVAL = 1000;

/** Milliseconds without a sign of life after which a lock is not waited for: its process may be suspended, or its id be another's. */
const SILENCE = 3000;

/** Milliseconds without a sign of life after which a lock means nothing. Clocks of two machines may differ; then both work. */
const STALE = 30_000;

/** Milliseconds to wait for a process that is at work. */
const PATIENCE = 60_000;

/** Locks that are taken away, one after another, before the work is left to others. */
const MOST_REMOVALS = 3;

/** How to keep two processes from doing the same work at once. */
export interface ExclusiveWork<Result> {
  /** A file that exists while a process works, in a folder that only this user can write. */
  readonly lockFile: string;
  readonly signal: AbortSignal | undefined;
  /** The result, if another process has finished the work by now. */
  found(): Promise<Result | undefined>;
  /** Does the work. It must do no harm when done by two at once, since a lock is a courtesy and can be lost. */
  work(): Promise<Result>;
}

/**
 * Does the work, or waits for another process that does it.
 *
 * A lock whose process is gone is taken away. Where no lock can be made, the work is done without.
 *
 * @returns `undefined` when another process has the lock and does not finish
 * @throws whatever `work` throws; an `AbortError` when the signal is aborted while waiting
 */
export async function doExclusively<Result>(task: ExclusiveWork<Result>): Promise<Result | undefined> {
  const other = new OtherWorker(task.lockFile);
  for (let removals = 0; removals < MOST_REMOVALS; ) {
    const holdsLock = await takeLock(task.lockFile);
    try {
      const result = await task.found();
      if (result !== undefined) return result;
      if (holdsLock !== false) return await givingSigns(task);
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

async function givingSigns<Result>({ lockFile, work }: ExclusiveWork<Result>): Promise<Result> {
  const timer = setInterval(() => {
    const now = new Date();
    utimes(lockFile, now, now).catch(() => undefined);
  }, SIGN_INTERVAL);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

async function removeLock(lockFile: string): Promise<void> {
  await rm(lockFile, { force: true, recursive: true }).catch(() => undefined);
}

/** @returns `false` when another process has it, `undefined` when there cannot be one. */
async function takeLock(lockFile: string): Promise<boolean | undefined> {
  try {
    const { pid, place } = thisProcess();
    await writeFile(lockFile, `${pid} ${hostname()} ${place}`, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EEXIST" ? false : undefined;
  }
}

/** The process that holds a lock, as seen from here. */
class OtherWorker {
  readonly #lockFile: string;
  readonly #patienceEnds = performance.now() + PATIENCE;
  #lastSign = 0;
  #noticed = 0;

  constructor(lockFile: string) {
    this.#lockFile = lockFile;
  }

  /** `gone` when its lock means nothing; `silent` when it should not be waited for. */
  async look(): Promise<"working" | "silent" | "gone"> {
    const read = await useOwnFile(this.#lockFile, async (file, { mtimeMs }) => ({
      text: await file.readFile("utf8"),
      mtimeMs,
    }));
    // It has finished: taking the lock again tells.
    if (read === undefined) return "working";
    if ("distrust" in read) return "gone";
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

/** Without a place, which earlier versions did not write, the machine's name has to do. */
function ownerIn(text: string): WorkOwner {
  const [pid = "", host, place = host === hostname() ? thisProcess().place : ""] = text.split(" ");
  return { pid: Number(pid), place };
}
