import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { SwankError } from "../errors.js";

/**
 * The secret to give to a server: the text itself, the file to take it from, or none.
 *
 * By default it is taken from `~/.slime-secret` when there is such a file, as Emacs does (slime.el, `slime-secret`), whatever the host.
 */
export type SecretOption = string | { readonly file: string } | false;

/**
 * Finds the secret; of a file, the first line counts.
 *
 * @returns `undefined` when none is to be sent.
 * @throws SwankError `SECRET_UNREADABLE` - before anything is sent, since a wrong secret ends a server's accepting.
 */
export async function findSecret(option: SecretOption | undefined): Promise<string | undefined> {
  if (option === false) return undefined;
  if (typeof option === "string") return option;
  if (option === undefined) return readOwnFile(join(homedir(), ".slime-secret"));
  const secret = await firstLine(option.file).catch((cause: unknown) => unreadable(option.file, cause));
  if (secret === "")
    throw new SwankError("SECRET_UNREADABLE", `The first line of the secret's file is empty: ${option.file}`);
  return secret;
}

/** An empty line is a secret here: a server that reads the same file expects it. */
async function readOwnFile(file: string): Promise<string | undefined> {
  return firstLine(file).catch((cause: unknown) => (isMissing(cause) ? undefined : unreadable(file, cause)));
}

function unreadable(file: string, cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new SwankError("SECRET_UNREADABLE", `The file of the secret cannot be read: ${file} (${reason})`, { cause });
}

function isMissing(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR");
}

async function firstLine(file: string): Promise<string> {
  const text = await readFile(file, "utf8");
  return text.split("\n", 1)[0] ?? "";
}
