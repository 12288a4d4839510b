import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { Log } from "../base/log.js";
import type { Identity, Tokens } from "./tokens.js";

/** The identity of every client of a server without tokens. */
const ANYBODY: Identity = { key: "anybody", name: "agent" };

/** How long a wrong token waits for its answer, in milliseconds, and how many do at a time. Any other is refused unread. */
const WRONG_TIME = 500;

const MOST_WRONG = 32;

/** How often wrong tokens are logged, in milliseconds. */
const LOG_INTERVAL = 60_000;

/** Where the server is reached. */
export interface Reach {
  /** The port that it listens on. */
  readonly port: number;
  readonly host: string;
  /** The address that clients of a proxy use. */
  readonly publicUrl: URL | undefined;
}

/** Values of `Host` that requests may have, in lower case. */
export function allowedHosts({ port, host, publicUrl }: Reach): ReadonlySet<string> {
  const names = ["localhost", "127.0.0.1", "[::1]", host.includes(":") ? `[${host}]` : host];
  const own = names.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
  const standard = publicUrl?.protocol === "https:" ? 443 : 80;
  const proxied =
    publicUrl === undefined ? [] : [publicUrl.host, `${publicUrl.hostname}:${publicUrl.port || standard}`];
  return new Set([...own, ...proxied].map((name) => name.toLowerCase()));
}

/** Values of `Origin` that requests may have. Clients that are not web pages send none. */
export function allowedOrigins({ port, publicUrl }: Reach): ReadonlySet<string> {
  const own = ["localhost", "127.0.0.1", "[::1]"].map((name) => new URL(`http://${name}:${port}`).origin);
  return new Set([...own, ...(publicUrl === undefined ? [] : [publicUrl.origin])]);
}

/** Lets in the requests of clients with a token, which come from no foreign web page. */
export class Guard {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #tokens: Tokens | undefined;
  readonly #log: Log;
  /** Wrong tokens that wait for their answer. */
  #waiting = 0;
  /** Wrong tokens that no line of the log has told, and when the last line was written. */
  #untold = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  /** @param tokens - `undefined`: everybody is let in. */
  constructor(reach: Reach, tokens: Tokens | undefined, log: Log) {
    this.#hosts = allowedHosts(reach);
    this.#origins = allowedOrigins(reach);
    this.#tokens = tokens;
    this.#log = log;
  }

  /** Returns who sends a request, whose body is not read yet, or answers it and returns `undefined`. */
  async admit(req: IncomingMessage, res: ServerResponse): Promise<Identity | undefined> {
    const { host, origin, authorization } = req.headers;
    if (host === undefined || !this.#hosts.has(host.toLowerCase()))
      return refuse(
        res,
        403,
        `This server does not serve the host ${shownHeader(host)}. --public-url names another one.`,
      );
    if (origin !== undefined && !this.#origins.has(origin))
      return refuse(res, 403, `This server does not serve the origin ${shownHeader(origin)}.`);
    if (this.#tokens === undefined) return ANYBODY;
    const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
    if (token === undefined) return challenge(res, "This server needs a token: Authorization: Bearer TOKEN.");
    return this.#find(token, this.#tokens) ?? (await this.#refuseWrong(res));
  }

  #find(token: string, tokens: Tokens): Identity | undefined {
    try {
      return tokens.find(token);
    } catch (error) {
      this.#log(`http: ${error instanceof Error ? error.message : error}`);
      return undefined;
    }
  }

  async #refuseWrong(res: ServerResponse): Promise<undefined> {
    this.#count();
    if (this.#waiting >= MOST_WRONG) return refuse(res, 429, "Too many wrong tokens. Try again later.");
    this.#waiting += 1;
    await setTimeout(WRONG_TIME);
    this.#waiting -= 1;
    return challenge(res, "The token is wrong, or was removed: swank-mcp token add NAME makes one.", "invalid_token");
  }

  #count(): void {
    this.#untold += 1;
    if (performance.now() - this.#toldAt < LOG_INTERVAL) return;
    this.#log(`http: wrong tokens refused: ${this.#untold}`);
    this.#untold = 0;
    this.#toldAt = performance.now();
  }
}

/** Most characters of a header that an answer repeats. */
const MAX_HEADER = 200;

function shownHeader(text = "(none)"): string {
  return JSON.stringify(text.slice(0, MAX_HEADER));
}

function challenge(res: ServerResponse, message: string, error?: string): undefined {
  const details = error === undefined ? "" : `, error="${error}", error_description="${message}"`;
  return refuse(res, 401, message, { "WWW-Authenticate": `Bearer realm="swank-mcp"${details}` });
}

/** Answers a request, and closes its connection, so that its body is not read. */
export function refuse(res: ServerResponse, status: number, message: string, headers = {}): undefined {
  if (res.destroyed) return undefined;
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id: null });
  res.writeHead(status, { "Content-Type": "application/json", Connection: "close", ...headers }).end(body);
  return undefined;
}
