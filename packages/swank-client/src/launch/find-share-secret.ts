import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { checkOptions } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { defaultCacheFolder, prepareCache } from "../cache/cache-folder.js";
import { removeQuietly } from "../cache/drafts.js";
import { useOwnFile } from "../cache/own-file.js";
import { ownSecretFile, readableByOthers, readSecretFile } from "../handshake/secret-file.js";

/** Options for the secret of a shared image. */
export interface FindShareSecretOptions {
  /** A file whose first line is the secret. Default: `~/.slime-secret`, or a generated file. */
  readonly file?: string | undefined;
  /** The folder for a generated secret. Default: `swank-toolkit` in the user's cache folder. */
  readonly cacheDir?: string | undefined;
}

/** The secret of a shared image. */
export interface ShareSecret {
  /** Absolute path of the file whose first line is the secret. */
  readonly file: string;
  /** True if this package generated the secret, so that no editor sends it by default. The file then holds only the secret, without a newline. */
  readonly isMade: boolean;
}

const NAME = "share-secret";

/**
 * Finds a secret for a shared image that no other user of the machine knows, or generates one. A generated secret is reused.
 *
 * @throws SwankError `SECRET_UNREADABLE` if there is no secret that other users cannot read
 */
export async function findShareSecret(options: FindShareSecretOptions = {}): Promise<ShareSecret> {
  checkOptions("findShareSecret", options, { file: true, cacheDir: true });
  const { file, cacheDir } = options;
  const named = file === undefined ? await ownSecretFile() : resolve(file);
  if (named === undefined) return { file: await madeSecret(cacheDir), isMade: true };
  const { secret, mode } = await readSecretFile(named);
  if (secret === "") throw new SwankError("SECRET_UNREADABLE", `The first line of the secret file is empty: ${named}`);
  if (readableByOthers(mode)) {
    throw new SwankError("SECRET_UNREADABLE", `The secret in ${named} is not safe: other users can read the file.`, {
      remedy: `Make it readable for its owner only: chmod 600 ${named}`,
    });
  }
  return { file: named, isMade: false };
}

async function madeSecret(cacheDir: string | undefined): Promise<string> {
  const { path, note } = await prepareCache(resolve(cacheDir ?? defaultCacheFolder()));
  if (path === undefined) throw new SwankError("SECRET_UNREADABLE", `There is no folder for a secret. ${note ?? ""}`);
  const file = join(path, NAME);
  if (!(await isSecret(file))) await makeSecret(file);
  if (await isSecret(file)) return file;
  throw new SwankError("SECRET_UNREADABLE", `No secret can be written to ${file}.`);
}

/** True if the file holds a secret of this package, and only this user can have read and written it. */
async function isSecret(path: string): Promise<boolean> {
  const found = await useOwnFile(path, (file, { mode }) => (readableByOthers(mode) ? "" : readFileSync(file, "utf8")));
  return found !== undefined && "value" in found && /^[0-9a-f]{32}$/.test(found.value);
}

/** Writes the secret atomically. If two processes do so at once, the later one wins: an image reads the file for each client. */
async function makeSecret(file: string): Promise<void> {
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  await writeFile(draft, randomBytes(16).toString("hex"), { mode: 0o600, flag: "wx" });
  try {
    await rename(draft, file).catch(() => undefined);
  } finally {
    await removeQuietly(draft);
  }
}
