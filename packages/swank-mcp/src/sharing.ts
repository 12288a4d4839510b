import type { SwankClient } from "swank-client";
import type { findShareSecret, shareImage } from "swank-client/launch";
import type { Config } from "./config.js";
import { DEFAULT_HOST } from "./image-address.js";
import type { Log } from "./log.js";
import { OptionError } from "./option.js";

/** Any free port. */
const ANY_PORT = 0;

/**
 * Reads a port to share an image on; nothing stands for any free one.
 *
 * @throws OptionError - when it is none.
 */
export function readSharePort(text: string, source: string): number {
  const port = text === "" ? ANY_PORT : Number(text);
  if (/^\d*$/.test(text) && port <= 65535) return port;
  throw new OptionError(
    `${source} takes a port, for example 4006, or nothing for any free one, not ${JSON.stringify(text)}.`,
  );
}

/** Where others can connect to an image of our own, or why they cannot. */
export type SharedAt =
  | {
      readonly address: string;
      /** File of the secret that is asked for; `undefined` when none is. */
      readonly secretFile: string | undefined;
    }
  | { readonly problem: string };

/** What `swank-client/launch` has for sharing; it is not loaded before Lisp is needed. */
export interface SharingMeans {
  readonly command: typeof shareImage;
  readonly findSecret: typeof findShareSecret;
}

/** Which secret others must send. */
export type SharingSecret = Pick<Config, "secretFile" | "noSecret" | "cacheDir">;

type FoundSecret = { readonly file: string | undefined; readonly isMade: boolean } | { readonly problem: string };

/** Shares one image of this server after another, each on the port of the one before. */
export class Sharing {
  readonly #wanted: number;
  readonly #secret: SharingSecret;
  readonly #log: Log;
  #last: number | undefined;

  /** @param wanted - 0 for any free port. */
  constructor(wanted: number, secret: SharingSecret, log: Log) {
    this.#wanted = wanted;
    this.#secret = secret;
    this.#log = log;
  }

  /** Never rejects unless the connection is gone: an image that cannot be shared is as good for the agent as any. */
  async share(client: SwankClient, { command, findSecret }: SharingMeans): Promise<SharedAt> {
    const secret = await this.#findSecret(findSecret);
    const shared = "problem" in secret ? secret : await this.#open(client, command, secret.file);
    const isMade = "file" in secret && secret.isMade;
    for (const line of "problem" in shared ? [shared.problem] : howToJoin(shared, isMade)) {
      this.#log(line);
      process.stderr.write(`swank-mcp: ${line}\n`);
    }
    return shared;
  }

  async #findSecret(find: SharingMeans["findSecret"]): Promise<FoundSecret> {
    const { noSecret, secretFile, cacheDir } = this.#secret;
    if (noSecret) return { file: undefined, isMade: false };
    try {
      return await find({ file: secretFile, cacheDir });
    } catch (error) {
      const { message, remedy } = explanation(error);
      return { problem: `The image is not shared: ${message} ${remedy}` };
    }
  }

  async #open(client: SwankClient, command: typeof shareImage, secretFile: string | undefined): Promise<SharedAt> {
    const ask = (port: number) => client.run(command, [port, secretFile]);
    const port = this.#last ?? this.#wanted;
    const first = await ask(port);
    const answer = first.status === "in-use" && port !== this.#wanted ? await ask(this.#wanted) : first;
    if (answer.status === "shared") {
      this.#last = answer.port;
      return { address: `${DEFAULT_HOST}:${answer.port}`, secretFile };
    }
    const why =
      answer.status === "in-use"
        ? `something else listens on port ${port}. Start swank-mcp with another --share, or with --share alone for any free port`
        : answer.message;
    return { problem: `The image is not shared: ${why}.` };
  }
}

/** What a person types to join; Emacs itself sends only the secret that is in `~/.slime-secret`. */
function howToJoin({ address, secretFile }: Extract<SharedAt, { address: string }>, isMade: boolean): string[] {
  const typed = `shared: M-x slime-connect RET ${address.replace(":", " RET ")}`;
  if (secretFile === undefined) return [`${typed}. No secret is asked for: every user of this machine can connect.`];
  if (!isMade) return [typed];
  return [
    `shared on ${address}. A secret was made, as there is no ~/.slime-secret; it is in ${secretFile}. In Emacs, M-: takes this form to connect:`,
    emacsForm(address, secretFile),
  ];
}

/** `slime-connect` with the content of a file as the secret. */
function emacsForm(address: string, file: string): string {
  const [host, port] = address.split(":");
  const secret = `(lambda () (with-temp-buffer (insert-file-contents ${lispString(file)}) (buffer-string)))`;
  return `(progn (require 'slime) (cl-letf (((symbol-function 'slime-secret) ${secret})) (slime-connect ${lispString(host ?? "")} ${port})))`;
}

function lispString(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function explanation(error: unknown): { message: string; remedy: string } {
  const message = error instanceof Error ? error.message : String(error);
  return { message, remedy: error instanceof Error && "remedy" in error ? String(error.remedy) : "" };
}
