import { accessSync, constants, lstatSync, type Stats } from "node:fs";
import { mkdir, readlink, rm } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, resolve, sep } from "node:path";
import { FileOwner } from "./file-owner.js";
import { makeFolder } from "./make-folder.js";

/** Most links followed on one path, as in Linux. */
const MOST_LINKS = 40;

/** A folder that only this user can write, or the reason why there is none. */
export type OwnFolder = { readonly path: string } | { readonly problem: string };

/**
 * Finds or makes a folder for files that this user executes. No other user can replace the folder, or a folder or link on the way to it,
 * so files in it cannot change after they are checked.
 *
 * @returns its path without links
 */
export async function ownFolder(folder: string): Promise<OwnFolder> {
  try {
    const owner = FileOwner.current();
    const path = owner === undefined ? await plainFolder(folder) : await walk(resolve(folder), owner);
    accessSync(path, constants.W_OK | constants.X_OK);
    return { path };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problem: error instanceof UnsafePath ? why : `${folder} cannot be written: ${why}` };
  }
}

/** Finds or makes a folder inside such a folder. An unusable file or folder in its place is removed. */
export async function ownSubfolder(parent: string, name: string): Promise<string | undefined> {
  const path = join(parent, name);
  try {
    const owner = FileOwner.current();
    const isUsable = async () => owner === undefined || owner.folderProblem(await findOrMake(path)) === undefined;
    if (await isUsable()) return owner === undefined ? plainFolder(path) : path;
    await rm(path, { recursive: true, force: true });
    return (await isUsable()) ? path : undefined;
  } catch {
    return undefined;
  }
}

class UnsafePath extends Error {}

async function plainFolder(folder: string): Promise<string> {
  await makeFolder(folder);
  return folder;
}

async function walk(folder: string, owner: FileOwner): Promise<string> {
  const { root } = parse(folder);
  const names = namesIn(folder);
  let path = root;
  let links = 0;
  check(folder, root, owner.parentProblem(lstatSync(root)));
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const next = name === ".." ? dirname(path) : join(path, name);
    const found = await findOrMake(next);
    if (found.isSymbolicLink()) {
      check(folder, next, owner.linkProblem(found));
      links += 1;
      if (links > MOST_LINKS) throw new UnsafePath(`${folder} cannot be written: too many links lead to it`);
      const target = await readlink(next);
      names.unshift(...namesIn(target));
      if (isAbsolute(target)) path = root;
      continue;
    }
    check(folder, next, owner.parentProblem(found));
    path = next;
  }
  check(folder, path, owner.folderProblem(lstatSync(path)));
  return path;
}

function namesIn(path: string): string[] {
  return path.split(sep).filter((name) => name !== "" && name !== ".");
}

function check(folder: string, path: string, problem: string | undefined): void {
  if (problem === undefined) return;
  throw new UnsafePath(
    path === folder ? `${folder} ${problem}` : `${folder} cannot be used: ${path}, which leads to it, ${problem}`,
  );
}

async function findOrMake(path: string): Promise<Stats> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined) return found;
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  });
  return lstatSync(path);
}
