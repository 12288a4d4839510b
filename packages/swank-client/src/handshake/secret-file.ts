import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { SwankError } from "../errors.js";

const OTHERS_READ = 0o044;

/** The secret in a file, and who can read it. */
export interface SecretFile {
  /** The first line. */
  readonly secret: string;
  readonly mode: number;
}

/** Where Emacs and Swank look for the user's secret (slime.el and swank.lisp, `slime-secret`). */
export function defaultSecretFile(): string {
  return join(homedir(), ".slime-secret");
}

/** The same, or `undefined` when the user has none. */
export async function ownSecretFile(): Promise<string | undefined> {
  const file = defaultSecretFile();
  return (await readIfThere(file)) === undefined ? undefined : file;
}

/** @throws SwankError `SECRET_UNREADABLE` */
export async function readSecretFile(file: string): Promise<SecretFile> {
  return readFirstLine(file).catch((cause: unknown) => unreadable(file, cause));
}

/** `undefined` when it is not there. @throws SwankError `SECRET_UNREADABLE` */
export async function readIfThere(file: string): Promise<SecretFile | undefined> {
  return readFirstLine(file).catch((cause: unknown) => (isMissing(cause) ? undefined : unreadable(file, cause)));
}

/** Whether others than its owner may read a file of that mode. */
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
  throw new SwankError("SECRET_UNREADABLE", `The file of the secret cannot be read: ${file} (${reason})`, { cause });
}

function isMissing(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR");
}
