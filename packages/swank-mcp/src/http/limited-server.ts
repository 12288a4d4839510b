import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { settledWithin } from "../base/lifetime.js";
import type { Log } from "../base/log.js";
import { OptionError } from "../base/option.js";
import { oneLine } from "../text/cut.js";

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

/** Most characters of an error in the log. */
export const MAX_ERROR = 300;

/** Where to listen, and the options that choose it. */
export interface ListenAddress {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  readonly portOption: string;
}

/** Node's HTTP server, with limits that keep it open for clients however many strangers come. */
export class LimitedServer {
  readonly #http = createServer(LIMITS);
  readonly #readers = new Readers();
  readonly #strangers = new Strangers();
  readonly #log: Log;

  /** @param log - Gets failures, with the name of the service. */
  constructor(log: Log) {
    this.#log = log;
    this.#http.maxConnections = MAX_CONNECTIONS;
    this.#http.on("connection", (socket) => this.#strangers.add(socket));
  }

  /**
   * Listens, and serves nothing yet.
   *
   * @returns the port
   * @throws OptionError - if the port cannot be used.
   */
  async listen(address: ListenAddress): Promise<number> {
    try {
      this.#http.listen({ host: address.host, port: address.port });
      await once(this.#http, "listening");
    } catch (error) {
      this.#readers.end();
      throw new OptionError(listenProblem(error, address));
    }
    // A failure of the listening socket, such as too many open files, must not end the server.
    this.#http.on("error", (error) => this.#log(error.message));
    const listening = this.#http.address();
    return typeof listening === "object" && listening !== null ? listening.port : address.port;
  }

  serve(answer: (req: IncomingMessage, res: ServerResponse) => Promise<void>): void {
    this.#http.on("request", (req, res) => {
      this.#readers.add(res);
      answer(req, res).catch((error: Error) => {
        this.#log(oneLine(error.message, MAX_ERROR));
        res.destroy();
      });
    });
  }

  /** Tells a client's connection from those of strangers. */
  admit({ socket }: IncomingMessage): void {
    this.#strangers.admit(socket);
  }

  /** Accepts no more, and lets what `finish` answers go out before the connections end. Never rejects if `finish` does not. */
  async close(finish: () => Promise<unknown>): Promise<void> {
    const closed = once(this.#http, "close");
    this.#http.close();
    // The answers of the calls that were cut off go out before their connections end.
    await setImmediate();
    await finish();
    this.#http.closeIdleConnections();
    await settledWithin(FAREWELL, closed);
    this.#http.closeAllConnections();
    this.#readers.end();
  }
}

function listenProblem(error: unknown, { host, port, portOption }: ListenAddress): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return `Another program listens on port ${port} of ${host}. Choose another with ${portOption}.`;
  if (code === "EACCES") return `This user must not listen on port ${port}. Choose one above 1023 with ${portOption}.`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `This machine has no address ${host}. Choose another with --host.`;
  return `The server cannot listen on port ${port} of ${host}: ${error instanceof Error ? error.message : error}.`;
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
