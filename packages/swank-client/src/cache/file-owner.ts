import { lstatSync, readFileSync, type Stats } from "node:fs";
import { userInfo } from "node:os";
import { attempted } from "../base/attempted.js";

const GROUP_WRITABLE = 0o020;
const OTHERS_WRITABLE = 0o002;
const STICKY = 0o1000;

/** Milliseconds for which the user's groups are not looked up again: long enough for the questions of one start. */
const KNOWN_FOR = 1000;

/** Why a file must not be used: words that follow its path in a sentence. */
export type FileProblem = string;

/** Decides whether only trusted users can have written a file: this user and root. */
export class FileOwner {
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
