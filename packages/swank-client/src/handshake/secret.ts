import { SwankError } from "../errors.js";
import { defaultSecretFile, readableByOthers, readIfThere, readSecretFile, type SecretFile } from "./secret-file.js";

/**
 * The secret to give to a server: the text itself, the file to take it from, or none.
 *
 * By default it is taken from `~/.slime-secret` when there is such a file, as Emacs does (slime.el, `slime-secret`), whatever the host.
 */
export type SecretOption = string | { readonly file: string } | false;

/** A secret to be sent. */
export interface FoundSecret {
  readonly text: string;
  /** What makes it less of a secret, a sentence. */
  readonly warning: string | undefined;
}

/**
 * Finds the secret; of a file, the first line counts.
 *
 * @returns `undefined` when none is to be sent.
 * @throws SwankError `SECRET_UNREADABLE` - before anything is sent, since a wrong secret ends a server's accepting.
 */
export async function findSecret(option: SecretOption | undefined): Promise<FoundSecret | undefined> {
  if (option === false) return undefined;
  if (typeof option === "string") return { text: option, warning: undefined };
  if (option === undefined) {
    // An empty line is a secret here: a server that reads the same file expects it.
    const file = defaultSecretFile();
    const own = await readIfThere(file);
    return own === undefined ? undefined : inFile(file, own);
  }
  const found = await readSecretFile(option.file);
  if (found.secret === "")
    throw new SwankError("SECRET_UNREADABLE", `The first line of the secret's file is empty: ${option.file}`);
  return inFile(option.file, found);
}

function inFile(file: string, { secret, mode }: SecretFile): FoundSecret {
  const warning = `Other users of this machine can read the secret in ${file}: chmod 600 ${file} keeps it from them.`;
  return { text: secret, warning: readableByOthers(mode) ? warning : undefined };
}
