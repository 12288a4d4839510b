import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { DEFAULT_HOST } from "../base/config.js";
import type { Log } from "../base/log.js";
import { LimitedServer } from "../http/limited-server.js";
import type { Feed } from "./feed.js";
import type { PageReply } from "./model.js";
import { beginStream, HTML, type PageGuard, refuse, send } from "./page-guard.js";

/** Where the build puts the files for the browser. It has the same place relative to the bundle and to this module. */
const FOLDER = new URL("../../dist/program/page/", import.meta.url);

/** The files by the names of requests. */
const FILES = {
  "": { file: "index.html", type: HTML },
  "page.js": { file: "page.js", type: "text/javascript; charset=utf-8" },
  "page.css": { file: "page.css", type: "text/css; charset=utf-8" },
} as const;

/** Most bytes of a request's body. */
const MAX_BODY = 1_000_000;

/** Most requests at a time. */
const MAX_REQUESTS = 64;

export interface PageServices {
  readonly feed: Feed;
  /** Whether acts are refused. */
  readonly isReadOnly: boolean;
  /** Answers `{ look: NAME, ...arguments }`, which nothing has checked. The signal is aborted when nobody waits for the answer. Never rejects. */
  look(sent: unknown, signal: AbortSignal): Promise<PageReply<unknown>>;
  /** Does what the person wants: an `Act`, which nothing has checked. Never rejects. */
  act(sent: unknown, signal: AbortSignal): Promise<PageReply<unknown>>;
}

/** The page's HTTP server. It listens on this machine only. */
export class PageServer {
  readonly port: number;
  readonly #server: LimitedServer;

  private constructor(server: LimitedServer, port: number) {
    this.#server = server;
    this.port = port;
  }

  /**
   * Listens, and answers nothing yet.
   *
   * @param port - 0 means any free port.
   * @throws OptionError - if the port cannot be used.
   */
  static async listen(port: number, log: Log): Promise<PageServer> {
    const server = new LimitedServer((line) => log(`page: ${line}`));
    return new PageServer(server, await server.listen({ host: DEFAULT_HOST, port, portOption: "--page" }));
  }

  /** Answers from now on. */
  serve(guard: PageGuard, services: PageServices): void {
    const requests = new PageRequests(services);
    this.#server.serve(async (req, res) => {
      const name = guard.admit(req, res);
      if (name === undefined) return;
      this.#server.admit(req);
      await requests.answer(name, req, res);
    });
  }

  /** Ends all connections. Never rejects. */
  close(): Promise<void> {
    return this.#server.close(async () => undefined);
  }
}

/** Answers the person's requests. */
class PageRequests {
  readonly #services: PageServices;
  #open = 0;

  constructor(services: PageServices) {
    this.#services = services;
  }

  async answer(name: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (name === "look" || name === "act") return this.#post(name, req, res);
    if (name !== "events" && !isFile(name)) return refuse(res, 404, "There is nothing here.");
    if (req.method !== "GET") return refuse(res, 405, "Method not allowed.", { Allow: "GET" });
    if (isFile(name)) send(res, 200, FILES[name].type, readFileSync(new URL(FILES[name].file, FOLDER)));
    else this.#stream(req, res);
  }

  #stream(req: IncomingMessage, res: ServerResponse): void {
    const lastId = req.headers["last-event-id"];
    const { feed } = this.#services;
    if (feed.isFull) refuse(res, 503, "Too many pages are open. Close one.");
    else feed.send(beginStream(res), typeof lastId === "string" ? lastId : undefined);
  }

  async #post(name: "look" | "act", req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.method !== "POST") return refuse(res, 405, "Method not allowed.", { Allow: "POST" });
    if (!/^application\/json(?:; ?charset=utf-8)?$/i.test(req.headers["content-type"] ?? ""))
      return refuse(res, 415, "The body must be JSON: application/json.");
    if (this.#open >= MAX_REQUESTS) return refuse(res, 429, "Too many requests at a time. Try again.");
    this.#open += 1;
    try {
      const body = await readBody(req);
      if (body === undefined) return refuse(res, 413, `The body has more than ${MAX_BODY} bytes.`);
      const data = dataIn(body);
      if (data === undefined) return refuse(res, 400, "The body is not JSON.");
      const reply = await this.#reply(name, data.value, endOf(res));
      send(res, 200, "application/json; charset=utf-8", JSON.stringify(reply));
    } finally {
      this.#open -= 1;
    }
  }

  #reply(name: "look" | "act", sent: unknown, signal: AbortSignal): Promise<PageReply<unknown>> | PageReply<unknown> {
    const { isReadOnly, look, act } = this.#services;
    if (name === "look") return look(sent, signal);
    return isReadOnly ? READ_ONLY : act(sent, signal);
  }
}

const READ_ONLY: PageReply<never> = {
  ok: false,
  error: { code: "READ_ONLY", message: "This page only reads (--page-read-only)." },
};

function isFile(name: string): name is keyof typeof FILES {
  return Object.hasOwn(FILES, name);
}

/** A signal that is aborted when the browser drops the request. */
function endOf(res: ServerResponse): AbortSignal {
  const ending = new AbortController();
  res.once("close", () => ending.abort());
  if (res.destroyed) ending.abort();
  return ending.signal;
}

/** @returns `undefined` for a body that is too large: the rest of it is not read. */
async function readBody(req: IncomingMessage): Promise<string | undefined> {
  if (Number(req.headers["content-length"] ?? 0) > MAX_BODY) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_BODY) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function dataIn(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
