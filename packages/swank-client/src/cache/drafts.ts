import { lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isGone, thisProcess } from "./work-owner.js";

/** Milliseconds after which unfinished work is considered abandoned. */
const ABANDONED = 3_600_000;

const DRAFT = /\.(?<pid>\d+)\.(?<place>[0-9a-f]{12})-\w+$/;
const LOCK = /\.lock$/;
/** Matches files that earlier versions of this package left. */
const OLD_DRAFT = /\.draft$/;

/** Makes a folder for work that other processes must neither use nor remove. */
export function makeDraft(parent: string, key: string): Promise<string> {
  const { pid, place } = thisProcess();
  return mkdtemp(join(parent, `${key}.${pid}.${place}-`));
}

/** Removes unfinished work of processes that were killed. Never rejects. */
export async function removeAbandoned(parent: string): Promise<void> {
  const names = await readdir(parent).catch((): string[] => []);
  await Promise.all(
    names.map(async (name) => {
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
