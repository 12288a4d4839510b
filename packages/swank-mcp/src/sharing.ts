import type { SwankClient } from "swank-client";
import type { shareImage } from "swank-client/launch";
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
export type SharedAt = { readonly address: string } | { readonly problem: string };

/** Shares one image of this server after another, each on the port of the one before. */
export class Sharing {
  readonly #wanted: number;
  readonly #log: Log;
  #last: number | undefined;

  /** @param wanted - 0 for any free port. */
  constructor(wanted: number, log: Log) {
    this.#wanted = wanted;
    this.#log = log;
  }

  /** Never rejects unless the connection is gone: an image that cannot be shared is as good for the agent as any. */
  async share(client: SwankClient, command: typeof shareImage): Promise<SharedAt> {
    const shared = await this.#open(client, command);
    const told =
      "address" in shared ? `shared: M-x slime-connect RET ${shared.address.replace(":", " RET ")}` : shared.problem;
    this.#log(told);
    process.stderr.write(`swank-mcp: ${told}\n`);
    return shared;
  }

  async #open(client: SwankClient, command: typeof shareImage): Promise<SharedAt> {
    const ask = (port: number) => client.run(command, [port]);
    const port = this.#last ?? this.#wanted;
    const first = await ask(port);
    const answer = first.status === "in-use" && port !== this.#wanted ? await ask(this.#wanted) : first;
    if (answer.status === "shared") {
      this.#last = answer.port;
      return { address: `${DEFAULT_HOST}:${answer.port}` };
    }
    const why =
      answer.status === "in-use"
        ? `something else listens on port ${port}. Start swank-mcp with another --share, or with --share alone for any free port`
        : answer.message;
    return { problem: `The image is not shared: ${why}.` };
  }
}
