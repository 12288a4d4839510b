import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { httpClientSetup } from "../base/client-setup.js";
import type { Config } from "../base/config.js";
import { type OutputQueue, type Service, settledWithin } from "../base/lifetime.js";
import type { Log } from "../base/log.js";
import { OptionError } from "../base/option.js";
import { oneLine } from "../text/cut.js";
import type { ToolServer } from "../tools/tool-server.js";
import { Clients, MAX_ERROR } from "./clients.js";
import { Guard, refuse } from "./guard.js";
import { Tokens, tokenFileOf } from "./tokens.js";

/** The path of the only endpoint. */
const PATH = "/mcp";

/** A path for supervisors, which need no token for it. */
const HEALTH_PATH = "/healthz";

/** Most connections at a time. Any other is closed at once. */
const MAX_CONNECTIONS = 1024;

/** Most connections that have not sent a token. Clients send it at once, so the oldest are closed. */
const MAX_STRANGERS = 256;

/** Limits of Node's server, in milliseconds: for the head of a request, for the whole request, and for a connection between two requests. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2000,
  // A client whose machine fails does not close its connections.
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
};

/** How often responses are looked at that are not taken, in milliseconds, and how many looks later their readers are given up. */
const LOOK_INTERVAL = 15_000;

const PATIENCE_IN_LOOKS = 20;

/** How long the clients have to read their last answers, in milliseconds. */
const FAREWELL = 1000;

/** How long standard output may stay unread, in milliseconds. */
const READER_PATIENCE = 2000;

export interface HttpOptions {
  readonly config: Config;
  readonly clients: {
    open(name: string, person: string): ToolServer;
    close(): Promise<void>;
  };
  /** Standard output. */
  readonly output: OutputQueue;
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Serves MCP over HTTP until a signal ends the server.
 *
 * @throws OptionError - if the port cannot be used, or the file of the tokens.
 */
export async function serveHttp(options: HttpOptions): Promise<Service> {
  const { config, log, output, environment } = options;
  const tokens = config.noToken ? undefined : new Tokens(tokenFileOf(config, environment));
  tokens?.check();
  const clients = new Clients({
    maxClients: config.maxClients,
    sessionMinutes: config.sessionMinutes,
    keys: () => keysOf(tokens, log),
    openTools: options.clients.open,
    log,
  });
  const http = createServer(LIMITS);
  http.maxConnections = MAX_CONNECTIONS;
  const port = await listen(http, config);
  // Not before: a server that does not start would show nobody the token.
  const first = tokens?.addFirst();
  const guard = new Guard({ port, host: config.host, publicUrl: config.publicUrl }, tokens, log);
  const readers = new Readers();
  const strangers = new Strangers();
  http.on("connection", (socket) => strangers.add(socket));
  http.on("request", (req, res) => {
    readers.add(res);
    serve({ guard, clients, strangers }, req, res).catch((error: Error) => {
      log(`http: ${oneLine(error.message, MAX_ERROR)}`);
      res.destroy();
    });
  });
  // A failure of the listening socket, such as too many open files, must not end the server.
  http.on("error", (error) => log(`http: ${error.message}`));
  const url = urlOf(config, port);
  log(`http: listening on ${config.host} port ${port}, for ${url}`);
  output.write(greeting(url, tokens, first));
  if (config.noToken) process.stderr.write(`swank-mcp: ${NO_TOKEN_WARNING}\n`);
  return {
    patience: READER_PATIENCE,
    cutOff: () => clients.cutOff(),
    close: async () => {
      const closed = once(http, "close");
      http.close();
      // The answers of the calls that were cut off go out before their connections end.
      await setImmediate();
      await Promise.all([clients.close(), options.clients.close()]);
      http.closeIdleConnections();
      await settledWithin(FAREWELL, closed);
      http.closeAllConnections();
      readers.end();
    },
  };
}

const NO_TOKEN_WARNING =
  "--no-token: every user and every program of this machine can run code as you through this server. Leave it out to serve clients with a token only.";

interface Serving {
  readonly guard: Guard;
  readonly clients: Clients;
  readonly strangers: Strangers;
}

async function serve({ guard, clients, strangers }: Serving, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const [path] = (req.url ?? "").split("?", 1);
  if (path === HEALTH_PATH && (req.method === "GET" || req.method === "HEAD")) {
    res.writeHead(200, { "Content-Type": "application/json" }).end('{"status":"ok"}');
    return;
  }
  if (path !== PATH) {
    refuse(res, 404, `There is nothing here. The address of the server ends in ${PATH}.`);
    return;
  }
  const identity = await guard.admit(req, res);
  if (identity === undefined) return;
  strangers.admit(req.socket);
  if (req.method !== "POST" && req.method !== "GET" && req.method !== "DELETE")
    refuse(res, 405, "Method not allowed.", { Allow: "GET, POST, DELETE" });
  else await clients.answer(identity, { req, res });
}

async function listen(http: Server, { host, port }: Config): Promise<number> {
  try {
    http.listen({ host, port });
    await once(http, "listening");
  } catch (error) {
    throw new OptionError(listenProblem(error, host, port));
  }
  const address = http.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

function listenProblem(error: unknown, host: string, port: number): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") return `Another program listens on port ${port} of ${host}. Choose another with --port.`;
  if (code === "EACCES") return `This user must not listen on port ${port}. Choose one above 1023 with --port.`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `This machine has no address ${host}. Choose another with --host.`;
  return `The server cannot listen on port ${port} of ${host}: ${error instanceof Error ? error.message : error}.`;
}

/** Keys of the identities that have a token; `undefined` if all do, or if the file cannot be read, which refuses every request. */
function keysOf(tokens: Tokens | undefined, log: Log): ReadonlySet<string> | undefined {
  try {
    return tokens?.keys;
  } catch (error) {
    log(`http: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/** The address for clients. */
function urlOf({ publicUrl, host }: Config, port: number): string {
  const base = publicUrl?.href.replace(/\/$/, "") ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return base.endsWith(PATH) ? base : `${base}${PATH}`;
}

/** Stands for a token in the instructions of a server that made none. */
const PLACEHOLDER = "TOKEN";

function greeting(url: string, tokens: Tokens | undefined, first: string | undefined): string {
  const token = tokens === undefined ? undefined : (first ?? PLACEHOLDER);
  const about =
    first === undefined
      ? `To make a token for a client: swank-mcp token add NAME`
      : `A token was made, which is not shown again: ${first}\nCodex reads it from the environment variable SWANK_MCP_TOKEN.`;
  return `Serving ${url}\n${tokens === undefined ? "" : `${about}\n`}${httpClientSetup(url, token)}`;
}

type Socket = IncomingMessage["socket"];

/** The connections that have sent no request of a client, oldest first. However many come, clients can still connect. */
class Strangers {
  readonly #sockets = new Set<Socket>();

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    const [oldest] = this.#sockets;
    if (this.#sockets.size > MAX_STRANGERS) oldest?.destroy();
  }

  admit(socket: Socket): void {
    this.#sockets.delete(socket);
  }
}

/** Closes the connections of readers that do not take their answers. */
class Readers {
  /** How many looks in a row have found something that was not taken. */
  readonly #looks = new Map<ServerResponse, number>();
  readonly #timer = setInterval(() => this.#look(), LOOK_INTERVAL).unref();

  add(res: ServerResponse): void {
    this.#looks.set(res, 0);
    res.once("close", () => this.#looks.delete(res));
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const [res, before] of this.#looks) {
      const looks = res.writableLength > 0 ? before + 1 : 0;
      this.#looks.set(res, looks);
      if (looks > PATIENCE_IN_LOOKS) res.destroy();
    }
  }
}
