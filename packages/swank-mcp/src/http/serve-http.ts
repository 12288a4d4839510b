import type { IncomingMessage, ServerResponse } from "node:http";
import { httpClientSetup } from "../base/client-setup.js";
import type { Config } from "../base/config.js";
import type { OutputQueue, Service } from "../base/lifetime.js";
import type { Log } from "../base/log.js";
import type { ToolServer } from "../tools/tool-server.js";
import { Clients } from "./clients.js";
import { Guard, refuse } from "./guard.js";
import { LimitedServer } from "./limited-server.js";
import { Tokens, tokenFileOf } from "./tokens.js";

/** The path of the only endpoint. */
const PATH = "/mcp";

/** A path for supervisors, which need no token for it. */
const HEALTH_PATH = "/healthz";

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
  const server = new LimitedServer((line) => log(`http: ${line}`));
  const port = await server.listen({ host: config.host, port: config.port, portOption: "--port" });
  // Not before: a server that does not start would show nobody the token.
  const first = tokens?.addFirst();
  const guard = new Guard({ port, host: config.host, publicUrl: config.publicUrl }, tokens, log);
  server.serve((req, res) => serve({ guard, clients, server }, req, res));
  const url = urlOf(config, port);
  log(`http: listening on ${config.host} port ${port}, for ${url}`);
  output.write(greeting(url, tokens, first));
  if (config.noToken) process.stderr.write(`swank-mcp: ${NO_TOKEN_WARNING}\n`);
  return {
    patience: READER_PATIENCE,
    cutOff: () => clients.cutOff(),
    close: () => server.close(() => Promise.all([clients.close(), options.clients.close()])),
  };
}

const NO_TOKEN_WARNING =
  "--no-token: every user and every program of this machine can run code as you through this server. Leave it out to serve clients with a token only.";

interface Serving {
  readonly guard: Guard;
  readonly clients: Clients;
  readonly server: LimitedServer;
}

async function serve({ guard, clients, server }: Serving, req: IncomingMessage, res: ServerResponse): Promise<void> {
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
  server.admit(req);
  if (req.method !== "POST" && req.method !== "GET" && req.method !== "DELETE")
    refuse(res, 405, "Method not allowed.", { Allow: "GET, POST, DELETE" });
  else await clients.answer(identity, { req, res });
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
