import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync, statSync } from "node:fs";
import { lstat, mkdtemp, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { attempted, defaultCacheFolder, ownSubfolder, prepareCache, useOwnFile } from "./own.js";

/** The name of a file or folder that is used only as long as all of its ingredients, JSON values, are the same. */
export function keyOf(ingredients: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(ingredients)).digest("hex").slice(0, 24);
}

const KEY = /^[0-9a-f]+$/;

/**
 * Files or folders of one kind that are kept for this user between runs, each under a key, in a folder that only this user can write. Those that
 * have not been used for the longest time are removed. Other processes may use the same folder.
 */
export class KeptFiles {
  readonly folder: string;
  readonly #most: number;
  readonly #ending: string;

  /**
   * @param folder - An existing folder.
   * @param most - Number to keep.
   * @param ending - Follows the key in the name of each.
   */
  constructor(folder: string, most: number, ending = "") {
    this.folder = folder;
    this.#most = most;
    this.#ending = ending;
  }

  /** Those in a folder inside the cache; `undefined` if no such folder can be used. */
  static async inside(cache: string | undefined, name: string, most: number): Promise<KeptFiles | undefined> {
    const folder = cache === undefined ? undefined : await ownSubfolder(cache, name);
    return folder === undefined ? undefined : new KeptFiles(folder, most);
  }

  pathOf(key: string): string {
    return join(this.folder, `${key}${this.#ending}`);
  }

  /** The file that exists while a process makes what has that key. */
  lockFileOf(key: string): string {
    return join(this.folder, `${key}.lock`);
  }

  /** Finds or makes a folder with that key; `undefined` if it cannot be used. */
  folderOf(key: string): Promise<string | undefined> {
    return ownSubfolder(this.folder, key);
  }

  /** Makes a folder for work that other processes must neither use nor remove. */
  makeDraft(key: string): Promise<string> {
    const { pid, place } = thisProcess();
    return mkdtemp(join(this.folder, `${key}.${pid}.${place}-`));
  }

  /** Keeps a finished file, or folder unless there is one, under a key. Removes what is no longer needed. @throws the system's error */
  async adopt(path: string, key: string): Promise<void> {
    await rename(path, this.pathOf(key));
    await this.prune();
  }

  /** Keeps a text under a key. @returns false if that is not possible */
  async write(key: string, text: string): Promise<boolean> {
    const isWritten = await writeAtOnce(this.pathOf(key), text);
    await this.prune();
    return isWritten;
  }

  /** Notes that what has the key is used. Never rejects. */
  async noteUse(key: string): Promise<void> {
    await touch(this.pathOf(key));
  }

  /** Removes what has not been used for some time, and unfinished work of processes that were killed. Never rejects. */
  async prune(): Promise<void> {
    const names = await namesIn(this.folder);
    const kept = names.filter((name) => name.endsWith(this.#ending) && KEY.test(this.#keyIn(name)));
    await removeUnused(this.folder, kept, this.#most);
    await this.removeAbandoned();
  }

  /** Removes unfinished work of processes that were killed. Never rejects. */
  removeAbandoned(): Promise<void> {
    return removeAbandoned(this.folder);
  }

  #keyIn(name: string): string {
    return name.slice(0, name.length - this.#ending.length);
  }
}

/**
 * Writes a file for this user only, in one step. If two processes do so at once, the later one wins.
 *
 * @returns false if it cannot be written
 */
export async function writeAtOnce(path: string, text: string): Promise<boolean> {
  const draft = `${path}${draftEnding()}`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
    return true;
  } catch {
    await removeQuietly(draft);
    return false;
  }
}

/** The part of a file's name after which comes its ending. */
const RUNNING = /\.(?<pid>\d+)\.(?<place>[0-9a-f]{12})$/;

/**
 * Writes a text for this user only to a file in the cache folder, which tells something of this process while it runs. Removes the files with the same
 * ending of processes that were killed.
 *
 * @param cacheDir - Default: the user's.
 * @returns the file's path; `undefined` if it cannot be written
 */
export async function keepWhileRunning(
  cacheDir: string | undefined,
  { name, ending }: { readonly name: string; readonly ending: string },
  text: string,
): Promise<string | undefined> {
  const { path: folder } = await prepareCache(resolve(cacheDir ?? defaultCacheFolder()));
  if (folder === undefined) return undefined;
  const names = await namesIn(folder);
  const gone = names.filter((each) => {
    const { pid, place } = (each.endsWith(ending) && RUNNING.exec(each.slice(0, -ending.length))?.groups) || {};
    return pid !== undefined && place !== undefined && isGone({ pid: Number(pid), place });
  });
  await Promise.all(gone.map((each) => removeQuietly(join(folder, each))));
  const { pid, place } = thisProcess();
  const file = join(folder, `${name}.${pid}.${place}${ending}`);
  return (await writeAtOnce(file, text)) ? file : undefined;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}

/** Sets the time of a file or folder. Never rejects. */
async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined);
}

/** A process that owns a file in a folder that it shares with other processes, even on other machines and in containers. */
interface WorkOwner {
  readonly pid: number;
  /** The machine or container in which its process id is valid. */
  readonly place: string;
}

/** This process. */
function thisProcess(): WorkOwner {
  return { pid: process.pid, place: thisPlace() };
}

/** True if a process is known to have ended. Nothing is known about processes elsewhere. */
function isGone({ pid, place }: WorkOwner): boolean {
  return place === thisPlace() && !isAlive(pid);
}

const known: { place?: string } = {};

/** Identifies the machine and container: machines can have the same name, and each container has its own process ids. */
function thisPlace(): string {
  known.place ??= keyOf([hostname(), attempted(machineId) ?? "", attempted(processNamespace) ?? ""]).slice(0, 12);
  return known.place;
}

const machineId = () => readFileSync("/etc/machine-id", "utf8").trim();

const processNamespace = () => readlinkSync("/proc/self/ns/pid");

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Milliseconds after which unfinished work is considered abandoned. */
const ABANDONED = 3_600_000;

const DRAFT = /\.(?<pid>\d+)\.(?<place>[0-9a-f]{12})-\w+$/;

const LOCK = /\.lock$/;

/** Matches files that earlier versions of this package left. */
const OLD_DRAFT = /\.draft$/;

/** The end of the names of files that are written for this process, which other processes must neither use nor remove. */
export function draftEnding(): string {
  const { pid, place } = thisProcess();
  return `.${pid}.${place}-${randomBytes(4).toString("hex")}`;
}

/** Removes unfinished work of processes that were killed. Never rejects. */
export async function removeAbandoned(parent: string): Promise<void> {
  await Promise.all(
    (await namesIn(parent)).map(async (name) => {
      if (await isAbandoned(parent, name)) await removeQuietly(join(parent, name));
    }),
  );
}

/** Removes a file or folder. Never rejects. */
export async function removeQuietly(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

async function isAbandoned(parent: string, name: string): Promise<boolean> {
  const { pid, place } = DRAFT.exec(name)?.groups ?? {};
  if (pid !== undefined && place !== undefined && isGone({ pid: Number(pid), place })) return true;
  return (pid !== undefined || LOCK.test(name) || OLD_DRAFT.test(name)) && (await isOld(join(parent, name)));
}

async function isOld(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found !== undefined && found.mtimeMs < Date.now() - ABANDONED;
}

/** Milliseconds for which a file is always kept after its last use: another process may be about to read it. */
const GRACE = 600_000;

/** Removes files or folders that have not been used for some time, except the most recently used. Never rejects. */
async function removeUnused(parent: string, names: readonly string[], kept: number): Promise<void> {
  const dated = await Promise.all(
    names.map(async (name) => ({ path: join(parent, name), time: await timeOf(parent, name) })),
  );
  const unused = dated.sort((a, b) => b.time - a.time).slice(kept);
  const old = unused.filter(({ time }) => time < Date.now() - GRACE);
  await Promise.all(old.map(({ path }) => removeQuietly(path)));
}

/** 0 for a file that another process has just removed. */
async function timeOf(parent: string, name: string): Promise<number> {
  return lstat(join(parent, name)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

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
interface ExclusiveWork<Result> {
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
      if (holdsLock) await removeQuietly(task.lockFile);
    }
    const state = await other.look();
    if (state === "silent") return undefined;
    if (state === "working")
      await pause(POLL_INTERVAL, undefined, task.signal === undefined ? {} : { signal: task.signal });
    else {
      removals += 1;
      await removeQuietly(task.lockFile);
    }
  }
  return undefined;
}

async function withHeartbeat<Result>({ lockFile, work }: ExclusiveWork<Result>): Promise<Result> {
  const timer = setInterval(() => void touch(lockFile), HEARTBEAT_INTERVAL);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
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

/**
 * A text that changes when a file changes: its path, size and time.
 *
 * @returns `undefined` if there is no such file.
 */
export function fileStamp(path: string): string | undefined {
  const found = attempted(() => statSync(path, { throwIfNoEntry: false }));
  return found && `${path} ${found.size} ${found.mtimeMs}`;
}
