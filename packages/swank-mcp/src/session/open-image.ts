import { type SwankClient, SwankError } from "swank-client";
import { findShareSecret, shareImage } from "swank-client/launch";
import { type Config, DEFAULT_HOST } from "../base/config.js";
import type { Log } from "../base/log.js";
import { openAttachedImage } from "./attached-image.js";
import { AgentName, type OpenSession } from "./image.js";
import { openOwnImage } from "./own-image.js";

/** Where other clients can connect to a launched image, or why they cannot. */
export type SharedAt =
  | {
      readonly address: string;
      /** File of the secret that clients must send; `undefined` if none is required. */
      readonly secretFile: string | undefined;
    }
  | { readonly problem: string };

/** Settings that choose the secret that other clients must send. */
type SharingSecret = Pick<Config, "secretFile" | "noSecret" | "cacheDir">;

type FoundSecret = { readonly file: string | undefined; readonly isMade: boolean } | { readonly problem: string };

/** Shares the images of this server, each on the port of its predecessor. */
export class Sharing {
  readonly #wanted: number;
  readonly #secret: SharingSecret;
  readonly #log: Log;
  #last: number | undefined;

  /** @param wanted - The port; 0 for any free port. */
  constructor(wanted: number, secret: SharingSecret, log: Log) {
    this.#wanted = wanted;
    this.#secret = secret;
    this.#log = log;
  }

  /** Shares an image, and reports the result. Rejects only if the connection is lost: the agent can also use an unshared image. */
  async share(client: SwankClient): Promise<SharedAt> {
    const secret = await this.#findSecret();
    const shared = "problem" in secret ? secret : await this.#open(client, secret.file);
    const isMade = "file" in secret && secret.isMade;
    for (const line of "problem" in shared ? [shared.problem] : howToJoin(shared, isMade)) {
      this.#log(line);
      process.stderr.write(`swank-mcp: ${line}\n`);
    }
    return shared;
  }

  async #findSecret(): Promise<FoundSecret> {
    const { noSecret, secretFile, cacheDir } = this.#secret;
    if (noSecret) return { file: undefined, isMade: false };
    try {
      return await findShareSecret({ file: secretFile, cacheDir });
    } catch (error) {
      const { message, remedy } = explanation(error);
      return { problem: `The image is not shared: ${message} ${remedy}` };
    }
  }

  async #open(client: SwankClient, secretFile: string | undefined): Promise<SharedAt> {
    const ask = (port: number) => client.run(shareImage, port, secretFile);
    const port = this.#last ?? this.#wanted;
    const first = await ask(port);
    const answer = first.status === "in-use" && port !== this.#wanted ? await ask(this.#wanted) : first;
    if (answer.status === "shared") {
      this.#last = answer.port;
      return { address: `${DEFAULT_HOST}:${answer.port}`, secretFile };
    }
    const why =
      answer.status === "in-use"
        ? `another program listens on port ${port}. Start swank-mcp with another --share port, or with --share alone for any free port`
        : answer.message;
    return { problem: `The image is not shared: ${why}.` };
  }
}

/** What the user types in Emacs to connect. `slime-connect` itself sends only the secret in `~/.slime-secret`. */
function howToJoin({ address, secretFile }: Extract<SharedAt, { address: string }>, isMade: boolean): string[] {
  const typed = `shared: M-x slime-connect RET ${address.replace(":", " RET ")}`;
  if (secretFile === undefined) return [`${typed}. No secret is required: every user of this machine can connect.`];
  if (!isMade) return [typed];
  return [
    `shared on ${address}. A secret was created in ${secretFile}, because there is no ~/.slime-secret. To connect from Emacs, evaluate this form with M-: :`,
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
  return { message, remedy: error instanceof SwankError ? error.remedy : "" };
}

/** The way to open a session in this configuration. */
export function openSession(config: Config, log: Log, agentName = new AgentName()): OpenSession {
  const sharing = config.share === undefined ? undefined : new Sharing(config.share, config, log);
  return async (signal, onDelay, onFile) => {
    const session =
      config.attach === undefined
        ? await openOwnImage(config, { log, sharing, onDelay, onFile, agentName }, signal)
        : await openAttachedImage(config.attach, config, agentName.text, signal);
    const { info, closed } = session.client;
    log(`connected to the image with pid ${info.pid}`);
    void closed.then(async (reason) => {
      const isLost = reason.code !== "CONNECTION_CLOSED";
      const why = isLost ? `was lost: ${await session.explainLoss()}` : `ended: ${reason.message}`;
      log(`the connection to the image with pid ${info.pid} ${why}`);
    });
    for (const remark of session.remarks) log(remark);
    session.faults.logTo(log);
    return session;
  };
}
