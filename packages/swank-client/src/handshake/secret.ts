import { SwankError } from "../base/errors.js";
import { defaultSecretFile, readableByOthers, readIfThere, readSecretFile, type SecretFile } from "./secret-file.js";

/**
 * The secret to send to a server: its text, a file that holds it, or none.
 *
 * The default is the content of `~/.slime-secret` if that exists, for every host, as in Emacs (slime.el, `slime-secret`).
 */
export type SecretOption = string | { readonly file: string } | false;

/** A secret to be sent. */
export interface FoundSecret {
  readonly text: string;
  /** A warning if other users can read the secret. */
  readonly warning: string | undefined;
}

/**
 * Finds the secret. In a file, it is the first line.
 *
 * @returns `undefined` if no secret is to be sent.
 * @throws SwankError `SECRET_UNREADABLE`, before anything is sent, because a server that gets a wrong secret stops accepting connections.
 */
export async function findSecret(option: SecretOption | undefined): Promise<FoundSecret | undefined> {
  if (option === false) return undefined;
  if (typeof option === "string") return { text: option, warning: undefined };
  if (option === undefined) {
    // An empty first line is a valid secret, because a server that reads the same file expects it.
    const file = defaultSecretFile();
    const own = await readIfThere(file);
    return own === undefined ? undefined : inFile(file, own);
  }
  const found = await readSecretFile(option.file);
  if (found.secret === "")
    throw new SwankError("SECRET_UNREADABLE", `The first line of the secret file is empty: ${option.file}`);
  return inFile(option.file, found);
}

function inFile(file: string, { secret, mode }: SecretFile): FoundSecret {
  const warning = `Other users of this machine can read the secret in ${file}. To prevent this, run chmod 600 ${file}.`;
  return { text: secret, warning: readableByOthers(mode) ? warning : undefined };
}
