import { randomBytes } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { SwankError } from "../errors.js";
import { ownSecretFile, readableByOthers, readSecretFile } from "../handshake/secret-file.js";
import { defaultCacheFolder, prepareCache } from "./cache-folder.js";
import { removeQuietly } from "./drafts.js";
import { useOwnFile } from "./own-file.js";

/** Which secret an image is to be shared with. */
export interface FindShareSecretOptions {
  /** A file whose first line is the secret. Default: `~/.slime-secret`, or one that is made. */
  readonly file?: string | undefined;
  /** Where a secret that is made is kept. Default: `swank-toolkit` in the user's cache folder. */
  readonly cacheDir?: string | undefined;
}

/** The secret that an image is shared with. */
export interface ShareSecret {
  /** Absolute path of the file whose first line it is. */
  readonly file: string;
  /** This package made it, so no editor sends it without being told to. The file then holds nothing else, not even a newline. */
  readonly isMade: boolean;
}

const NAME = "share-secret";

/**
 * Finds a secret to share an image with, which no other user of the machine knows, or makes one. One that was made is used again.
 *
 * @throws SwankError `SECRET_UNREADABLE` when there is none that keeps others out
 */
export async function findShareSecret({ file, cacheDir }: FindShareSecretOptions = {}): Promise<ShareSecret> {
  const named = file === undefined ? await ownSecretFile() : resolve(file);
  if (named === undefined) return { file: await madeSecret(cacheDir), isMade: true };
  const { secret, mode } = await readSecretFile(named);
  if (secret === "")
    throw new SwankError("SECRET_UNREADABLE", `The first line of the secret's file is empty: ${named}`);
  if (readableByOthers(mode)) {
    throw new SwankError("SECRET_UNREADABLE", `The secret in ${named} is none: other users can read the file.`, {
      remedy: `Give it to this user alone: chmod 600 ${named}`,
    });
  }
  return { file: named, isMade: false };
}

async function madeSecret(cacheDir: string | undefined): Promise<string> {
  const { path, note } = await prepareCache(resolve(cacheDir ?? defaultCacheFolder()));
  if (path === undefined) throw new SwankError("SECRET_UNREADABLE", `No secret can be kept anywhere. ${note ?? ""}`);
  const file = join(path, NAME);
  if (!(await isSecret(file))) await makeSecret(file);
  if (await isSecret(file)) return file;
  throw new SwankError("SECRET_UNREADABLE", `No secret can be written to ${file}.`);
}

/** Whether it holds what this package writes, and this user alone can have read and written it. */
async function isSecret(path: string): Promise<boolean> {
  const found = await useOwnFile(path, async (file, { mode }) => (readableByOthers(mode) ? "" : file.readFile("utf8")));
  return found !== undefined && "value" in found && /^[0-9a-f]{32}$/.test(found.value);
}

/** Whole from the first moment on. Of two that are made at once the later one stays: an image reads it whenever it lets a client in. */
async function makeSecret(file: string): Promise<void> {
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  await writeFile(draft, randomBytes(16).toString("hex"), { mode: 0o600, flag: "wx" });
  try {
    await rename(draft, file).catch(() => undefined);
  } finally {
    await removeQuietly(draft);
  }
}
