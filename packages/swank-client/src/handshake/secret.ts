import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { SwankError } from "../errors.js";

/**
 * The secret to give to a server: the text itself, the file to take it from, or none.
 *
 * By default it is taken from `~/.slime-secret` when that can be read, as Emacs does (slime.el, `slime-secret`), whatever the host.
 */
export type SecretOption = string | { readonly file: string } | false;

/**
 * Finds the secret; of a file, the first line counts.
 *
 * @returns `undefined` when none is to be sent.
 * @throws SwankError `INVALID_ARGUMENT` when the named file cannot be read
 */
export async function findSecret(option: SecretOption | undefined): Promise<string | undefined> {
  if (option === false) return undefined;
  if (typeof option === "string") return option;
  if (option !== undefined) return readNamedFile(option.file);
  return firstLine(join(homedir(), ".slime-secret")).catch(() => undefined);
}

async function readNamedFile(file: string): Promise<string> {
  try {
    return await firstLine(file);
  } catch (cause) {
    throw new SwankError("INVALID_ARGUMENT", `The file of the secret cannot be read: ${file}`, { cause });
  }
}

async function firstLine(file: string): Promise<string> {
  const text = await readFile(file, "utf8");
  return text.split("\n", 1)[0] ?? "";
}
