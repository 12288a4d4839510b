import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { SwankError } from "../base/errors.js";

const OTHERS_READ = 0o044;

/** The secret in a file, and whether other users can read it. */
export interface SecretFile {
  /** The first line. */
  readonly secret: string;
  readonly mode: number;
}

/** Where Emacs and Swank look for the user's secret (slime.el and swank.lisp, `slime-secret`). */
export function defaultSecretFile(): string {
  return join(homedir(), ".slime-secret");
}

/** The user's secret, or `undefined` if there is none. */
export async function ownSecretFile(): Promise<string | undefined> {
  const file = defaultSecretFile();
  return (await readIfThere(file)) === undefined ? undefined : file;
}

/** @throws SwankError `SECRET_UNREADABLE` */
export async function readSecretFile(file: string): Promise<SecretFile> {
  return readFirstLine(file).catch((cause: unknown) => unreadable(file, cause));
}

/** `undefined` if the file does not exist. @throws SwankError `SECRET_UNREADABLE` */
export async function readIfThere(file: string): Promise<SecretFile | undefined> {
  return readFirstLine(file).catch((cause: unknown) => (isMissing(cause) ? undefined : unreadable(file, cause)));
}

/** True if users other than the owner may read a file with this mode. */
export function readableByOthers(mode: number): boolean {
  return process.getuid !== undefined && (mode & OTHERS_READ) !== 0;
}

async function readFirstLine(path: string): Promise<SecretFile> {
  const file = await open(path, "r");
  try {
    const { mode } = await file.stat();
    const [secret = ""] = (await file.readFile("utf8")).split("\n", 1);
    return { secret, mode };
  } finally {
    await file.close();
  }
}

function unreadable(file: string, cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new SwankError("SECRET_UNREADABLE", `The secret file cannot be read: ${file} (${reason})`, { cause });
}

function isMissing(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR");
}
