import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Decoded, decode, NIL, quote, T } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, checkOptions, type OptionsOf } from "../base/options.js";
import { writeAtOnce } from "../files/kept.js";
import { defaultCacheFolder, prepareCache, useOwnFile } from "../files/own.js";
import { emptySecret, ownSecret, readableByOthers, readSecretFile } from "../handshake/handshake.js";
import { keywordOf, lispFunction } from "../runtime/function.js";

const { integer, list: listOf, nullable, record, string, tagged } = decode;

const sharing = tagged({
  shared: record({ port: integer }, { status: "shared" }),
  "in-use": record({}, { status: "in-use" }),
  failed: record({ message: string }, { status: "failed" }),
});

/** The result of sharing an image. `in-use`: another program listens on the port. */
export type Sharing = Decoded<typeof sharing>;

/**
 * Makes an image that `launchImage` started serve other clients, such as the user's Emacs, on a port of 127.0.0.1. A client that is let in
 * can do anything with this user's rights. A connection that does not send the secret is closed after 10 s and disturbs no other.
 *
 * The image still ends with the process that launched it.
 */
export const shareImage = lispFunction({
  name: "swank-client/launch:share",
  /**
   * @param port - 0 for any free port.
   * @param secretFile - Absolute path of the file whose first line clients must send, see `findShareSecret`. `undefined` lets every user of
   * this machine in.
   */
  encode: (port: number, secretFile: string | undefined) => [port, secretFile ?? NIL],
  decode: sharing,
});

const secretOptions = {
  /** A file whose first line is the secret. Default: `~/.slime-secret`, or a generated file. */
  file: check.text,
  /** The folder for a generated secret. Default: `swank-toolkit` in the user's cache folder. */
  cacheDir: check.text,
};

/** Options for the secret of a shared image. */
export interface FindShareSecretOptions extends OptionsOf<typeof secretOptions> {}

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
  checkOptions("findShareSecret", options, secretOptions);
  const { file, cacheDir } = options;
  const found = file === undefined ? await ownSecret() : await readSecretFile(resolve(file));
  if (found === undefined) return { file: await madeSecret(cacheDir), isMade: true };
  const { file: named, secret, mode } = found;
  if (secret === "") throw emptySecret(named);
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
  // An image reads the file for each client.
  if (!(await isSecret(file))) await writeAtOnce(file, randomBytes(16).toString("hex"));
  if (await isSecret(file)) return file;
  throw new SwankError("SECRET_UNREADABLE", `No secret can be written to ${file}.`);
}

/** True if the file holds a secret of this package, and only this user can have read and written it. */
async function isSecret(path: string): Promise<boolean> {
  const found = await useOwnFile(path, (file, { mode }) => (readableByOthers(mode) ? "" : readFileSync(file, "utf8")));
  return found !== undefined && "value" in found && /^[0-9a-f]{32}$/.test(found.value);
}

const initFiles = {
  /** `true`: do not load the init files that `sbcl` loads, the system's and `~/.sbclrc`. */
  noUserInit: check.flag,
  /** Files to load after them, relative to this process's working folder. */
  load: check.texts,
};

/** Options for loading the user's files. */
export interface InitFiles extends OptionsOf<typeof initFiles> {}

const STATUSES = ["loaded", "missing", "failed"] as const;

/** `loaded` completely, `missing` (no such file), or `failed` with an error. */
export type LoadedStatus = (typeof STATUSES)[number];

const loadedFile = record({
  path: string,
  /** `missing`: there is no such file. */
  status: keywordOf(STATUSES),
  /** Why it was not loaded completely, with the condition's type; `undefined` if it was. */
  error: nullable(string),
  /** Its output on stdout and stderr, the last 10000 characters. After an error in source it ends with the position of the form. */
  output: string,
});

/** The result of loading a file. */
export interface LoadedFile extends Decoded<typeof loadedFile> {}

/** The init files that `sbcl` would load, the system's and the user's, if they exist. */
export const defaultInitFiles = lispFunction({
  name: "swank-client/launch:default-init-files",
  encode: () => [T, T],
  decode: listOf(string),
});

/** Does for one file, an absolute path, what `loadInitFiles` does for all, so that the caller knows which file is being loaded. */
export const loadInitFile = lispFunction({
  name: "swank-client/launch:load-init-file",
  encode: (path: string) => [path],
  decode: loadedFile,
});

/**
 * Loads the user's files into an image that `launchImage` started. An error ends the loading of its file only.
 *
 * There is no time limit, and the files can do anything.
 */
export const loadInitFiles = lispFunction({
  name: "swank-client/launch:load-init-files",
  encode: (files: InitFiles) => {
    checkOptions("loadInitFiles", files, initFiles);
    const { noUserInit = false, load = [] } = files;
    const wanted = noUserInit ? NIL : T;
    return [wanted, wanted, quote(load.map((file) => resolve(file)))];
  },
  decode: listOf<LoadedFile>(loadedFile),
});
