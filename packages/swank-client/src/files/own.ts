import { accessSync, closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { lstat, mkdir, readdir, readlink, rm } from "node:fs/promises";
import { homedir, tmpdir, userInfo } from "node:os";
import { dirname, isAbsolute, join, parse, resolve, sep } from "node:path";

/**
 * The result of looking at something that may be missing, such as a file; `undefined` if that fails.
 *
 * Launching asks the system for a hundred files. Synchronous calls take a tenth of the time that asking in other threads takes.
 */
export function attempted<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

const GROUP_WRITABLE = 0o020;

const OTHERS_WRITABLE = 0o002;

const STICKY = 0o1000;

/** Milliseconds for which the user's groups are not looked up again: long enough for the questions of one start. */
const KNOWN_FOR = 1000;

/** Why a file must not be used: words that follow its path in a sentence. */
type FileProblem = string;

/** Decides whether only trusted users can have written a file: this user and root. */
class FileOwner {
  readonly #user: number;
  readonly #administrators: ReadonlySet<number>;
  /** This user's group, if it has no other member. */
  readonly #privateGroup: number | undefined;

  private constructor(user: number, administrators: ReadonlySet<number>, privateGroup: number | undefined) {
    this.#user = user;
    this.#administrators = administrators;
    this.#privateGroup = privateGroup;
  }

  static #current: { readonly owner: FileOwner; readonly until: number } | undefined;

  /** This process's user; `undefined` on a system without users. */
  static current(): FileOwner | undefined {
    const user = process.getuid?.();
    if (user === undefined) return undefined;
    const known = FileOwner.#current;
    if (known !== undefined && known.owner.#user === user && performance.now() < known.until) return known.owner;
    const owner = FileOwner.#find(user);
    FileOwner.#current = { owner, until: performance.now() + KNOWN_FOR };
    return owner;
  }

  static #find(user: number): FileOwner {
    // In a user namespace root has another id, which is that of the root folder's owner.
    const root = attempted(() => lstatSync("/"));
    return new FileOwner(user, new Set([0, root?.uid ?? 0]), attempted(findPrivateGroup));
  }

  /** What is wrong with a file or link whose content is to be executed. For a link, its own owner counts. */
  fileProblem(found: Stats): FileProblem | undefined {
    if (!found.isFile()) return found.isSymbolicLink() ? "is a link" : "is not a file";
    // Another user can make a hard link to this user's file.
    if (found.nlink > 1) return "has more than one hard link";
    return this.#writerProblem(found);
  }

  /** What is wrong with a folder for such files. */
  folderProblem(found: Stats): FileProblem | undefined {
    if (!found.isDirectory()) return found.isSymbolicLink() ? "is a link" : "is not a folder";
    return this.#writerProblem(found);
  }

  /** What is wrong with a parent folder. Users who can write there can replace its contents. */
  parentProblem(found: Stats): FileProblem | undefined {
    if (!found.isDirectory()) return "is not a folder";
    if (!this.#isTrusted(found.uid)) return "belongs to another user";
    // In a sticky folder, such as /tmp, only the owner of a file can replace it.
    return this.#isWritableByOthers(found) && (found.mode & STICKY) === 0 ? "can be written by other users" : undefined;
  }

  /** What is wrong with a link on the way to it. */
  linkProblem(found: Stats): FileProblem | undefined {
    return this.#isTrusted(found.uid) ? undefined : "belongs to another user";
  }

  #writerProblem(found: Stats): FileProblem | undefined {
    if (found.uid !== this.#user) return "belongs to another user";
    return this.#isWritableByOthers(found) ? "can be written by other users" : undefined;
  }

  #isTrusted(uid: number): boolean {
    return uid === this.#user || this.#administrators.has(uid);
  }

  #isWritableByOthers({ mode, gid }: Stats): boolean {
    if ((mode & OTHERS_WRITABLE) !== 0) return true;
    return (mode & GROUP_WRITABLE) !== 0 && gid !== this.#privateGroup;
  }
}

/** The user's group if it has the user's name and no other member. Many systems give each user such a group, which may write. */
function findPrivateGroup(): number | undefined {
  const { username } = userInfo();
  const lines = readFileSync("/etc/group", "utf8").split("\n");
  const [, , gid, members = ""] = lines.map((line) => line.split(":")).find(([name]) => name === username) ?? [];
  const isPrivate = members.split(",").every((member) => member === "" || member === username);
  return isPrivate && gid !== undefined && Number(gid) === process.getgid?.() ? Number(gid) : undefined;
}

/** Does not follow links, and does not block on a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The result of using a file that only this user can have written, or the reason why it was not used. */
type OwnFileResult<Value> = { readonly value: Value } | { readonly problem: FileProblem };

/**
 * Opens a file, and uses it if only this user can have written it. The checked file is the one used, even if its name is changed in
 * between. Asks the system synchronously, because a launch waits for each of these questions, and Node's threads take longer than the
 * answers.
 *
 * @param use - Gets the file's descriptor.
 * @returns `undefined` when there is no such file
 */
export async function useOwnFile<Value>(
  path: string,
  use: (file: number, found: Stats) => Value,
): Promise<OwnFileResult<Value> | undefined> {
  const file = openFile(path);
  if (typeof file !== "number") return file === undefined ? undefined : { problem: file };
  try {
    const found = fstatSync(file);
    const problem = FileOwner.current()?.fileProblem(found);
    return problem === undefined ? { value: use(file, found) } : { problem };
  } finally {
    closeSync(file);
  }
}

/** The text of such a file; `undefined` if there is no usable file. */
export async function readOwnFile(path: string): Promise<string | undefined> {
  const result = await useOwnFile(path, (file) => readFileSync(file, "utf8"));
  return result !== undefined && "value" in result ? result.value : undefined;
}

/**
 * What is wrong with a folder or a file in it, if another user can have written it.
 *
 * @param recursive - Whether what is inside the folders in it counts, too.
 */
export async function treeProblem(folder: string, recursive = true): Promise<FileProblem | undefined> {
  const owner = FileOwner.current();
  if (owner === undefined) return undefined;
  const problem = owner.folderProblem(await lstat(folder));
  if (problem !== undefined) return problem;
  const names = await readdir(folder, { recursive });
  const all = await Promise.all(
    names.map(async (name) => {
      const found = await lstat(join(folder, name));
      return found.isDirectory() ? owner.folderProblem(found) : owner.fileProblem(found);
    }),
  );
  const index = all.findIndex((each) => each !== undefined);
  return index < 0 ? undefined : `contains ${names[index]}, which ${all[index]}`;
}

/** Why it cannot be opened; `undefined` if it does not exist. */
function openFile(path: string): number | FileProblem | undefined {
  try {
    return openSync(path, FLAGS);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return undefined;
    return code === "ELOOP" || code === "EMLINK" ? "is a link" : `cannot be read (${String(code)})`;
  }
}

/**
 * Makes a folder, and its parents, for this user only. The folder may already exist.
 *
 * Node's recursive `mkdir` never returns where the system reports an existing folder as missing, as in `/proc`.
 *
 * @throws the system's error
 */
function makeFolder(folder: string): Promise<void> {
  return make(folder, dirname(folder) !== folder);
}

async function make(folder: string, mayMakeParent: boolean): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || !mayMakeParent) throw error;
    await makeFolder(dirname(folder));
    await make(folder, false);
  }
}

/** Most links followed on one path, as in Linux. */
const MOST_LINKS = 40;

/** A folder that only this user can write, or the reason why there is none. */
type OwnFolder = { readonly path: string } | { readonly problem: string };

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

/** The user's home folder. For a user unknown to the system, as in some containers, it is the root folder. */
export function homeFolder(env: Readonly<Record<string, string | undefined>>): string {
  if (env["HOME"]) return env["HOME"];
  try {
    return homedir();
  } catch {
    return "/";
  }
}

/** The name of the folder in which this library keeps files between runs. */
const NAME = "swank-toolkit";

/** The default folder, in the user's cache folder. */
export function defaultCacheFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const home = homeFolder(env);
  const caches = platform === "darwin" ? join(home, "Library/Caches") : env["XDG_CACHE_HOME"] || join(home, ".cache");
  return join(caches, NAME);
}

/** A temporary folder for this user only. */
function temporaryFolder(): string {
  return join(tmpdir(), `${NAME}-${process.getuid?.() ?? "user"}`);
}

/** The folder for files kept between launches. */
interface CacheFolder {
  /** `undefined` if there is none. */
  readonly path: string | undefined;
  /** Why it is not the wanted folder, a sentence. */
  readonly note: string | undefined;
}

/** Makes the wanted folder if needed. If it cannot be used, or other users could write it, a temporary folder is used instead. */
export async function prepareCache(wanted: string): Promise<CacheFolder> {
  const found = await ownFolder(wanted);
  if ("path" in found) return { path: found.path, note: undefined };
  const other = await ownFolder(temporaryFolder());
  return "path" in other
    ? { path: other.path, note: `Files are kept between launches in ${other.path}: ${found.problem}.` }
    : { path: undefined, note: `No files can be kept between launches: ${found.problem}.` };
}
