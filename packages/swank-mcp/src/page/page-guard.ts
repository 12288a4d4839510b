import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { DEFAULT_HOST } from "../base/config.js";

/** Bytes of each secret. */
const SECRET = 24;

/** The headers of every answer: the browser runs and loads only what this server serves, and shows it in no other page. */
const HEADERS = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // No script can make markup of a text, except for the templates of lit-html.
    "require-trusted-types-for 'script'",
    "trusted-types lit-html",
  ].join("; "),
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
};

/**
 * Lets in the requests of the person who has the address with the token.
 *
 * The token becomes a cookie. Browsers send a cookie to all ports of a host, where other users' programs may listen, so it is limited to a folder,
 * whose name is a secret, too: another program gets neither the cookie, nor a use for it.
 */
export class PageGuard {
  readonly #origins: ReadonlyMap<string, string>;
  readonly #port: number;
  readonly #where: string;
  readonly #token: string;
  readonly #cookie = newSecret();
  readonly #folder = `/${newSecret()}/`;

  /** @param where - Says where the person finds the address, after `Open the address`. */
  constructor(port: number, token: string, where: string) {
    this.#port = port;
    this.#token = token;
    this.#where = where;
    const hosts = [DEFAULT_HOST, "localhost"].flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]);
    this.#origins = new Map(hosts.map((host) => [host, new URL(`http://${host}`).origin]));
  }

  /** Returns the name of what a request asks for, without the folder, or answers it and returns `undefined`. */
  admit(req: IncomingMessage, res: ServerResponse): string | undefined {
    const { host = "", origin, cookie } = req.headers;
    const own = this.#origins.get(host.toLowerCase());
    if (own === undefined) return refuse(res, 403, "This server does not serve that host.");
    if (origin !== undefined && origin !== own) return refuse(res, 403, "This server does not serve that origin.");
    const [path = "", query = ""] = (req.url ?? "").split("?", 2);
    const token = new URLSearchParams(query).get("token");
    if (path === "/" && token !== null) return this.#begin(token, req, res);
    const site = req.headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin" && site !== "none")
      return refuse(res, 403, `This server does not serve other sites. ${this.#advice}`);
    const isInFolder = isSame(path.slice(0, this.#folder.length), this.#folder);
    const hasCookie = isSame(cookieOf(cookie, this.#cookieName), this.#cookie);
    if (!isInFolder || !hasCookie) return refuse(res, 401, this.#advice);
    return path.slice(this.#folder.length);
  }

  /** Gives the browser the cookie, and sends it on to the page. */
  #begin(token: string, req: IncomingMessage, res: ServerResponse): undefined {
    if (req.method !== "GET") return refuse(res, 405, "The address is opened with GET.", { Allow: "GET" });
    if (!isSame(token, this.#token)) return refuse(res, 403, `That token is not valid any more. ${this.#advice}`);
    // Only here: a program of another user may serve another address of the name localhost.
    const page = `http://${DEFAULT_HOST}:${this.#port}${this.#folder}`;
    const cookie = `${this.#cookieName}=${this.#cookie}; HttpOnly; SameSite=Strict; Path=${this.#folder}`;
    if (req.headers.host?.startsWith("localhost") === true) redirect(res, 303, firstAddress(this.#port, this.#token));
    // After a link of another site, a redirection would not send the cookie. This is a step of our own.
    else if (/^(?:cross|same)-site$/.test(String(req.headers["sec-fetch-site"])))
      send(res, 200, HTML, `<!doctype html><meta http-equiv="refresh" content="0; url=${page}">`, {
        "Set-Cookie": cookie,
      });
    else redirect(res, 303, page, { "Set-Cookie": cookie });
    return undefined;
  }

  get #cookieName(): string {
    return `swank-page-${this.#port}`;
  }

  get #advice(): string {
    return `Open the address ${this.#where}.`;
  }
}

/** The address that a person opens. */
export function firstAddress(port: number, token: string): string {
  return `http://${DEFAULT_HOST}:${port}/?token=${token}`;
}

export function newSecret(): string {
  return randomBytes(SECRET).toString("base64url");
}

/** Takes the same time whatever the texts are. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hashOf(one), hashOf(other));
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function cookieOf(header: string | undefined, name: string): string {
  const found = header?.split("; ").find((part) => part.startsWith(`${name}=`));
  return found?.slice(name.length + 1) ?? "";
}

export const HTML = "text/html; charset=utf-8";

/** Answers with a body. */
export function send(res: ServerResponse, status: number, type: string, body: string | Buffer, headers = {}): void {
  if (!res.destroyed) res.writeHead(status, { ...HEADERS, "Content-Type": type, ...headers }).end(body);
}

function redirect(res: ServerResponse, status: number, location: string, headers = {}): void {
  send(res, status, "text/plain; charset=utf-8", "", { Location: location, ...headers });
}

/** Answers a request, and closes its connection, so that its body is not read. */
export function refuse(res: ServerResponse, status: number, message: string, headers = {}): undefined {
  send(res, status, "text/plain; charset=utf-8", `${message}\n`, { Connection: "close", ...headers });
  return undefined;
}

/** Begins a stream of events. */
export function beginStream(res: ServerResponse): ServerResponse {
  return res.writeHead(200, { ...HEADERS, "Content-Type": "text/event-stream" });
}
