import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Tokens } from "#swank-mcp/http/tokens.js";
import { type ServerExit, ServerProcess } from "./server-process.js";

/** Where a client connects, and with which token. */
export interface HttpAddress {
  readonly url: URL;
  readonly token: string;
}

export interface HttpServerOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** Default: a new file. */
  readonly tokenFile?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The installed `swank-mcp http`, on a free port, with a file of tokens of its own. */
export class HttpServer {
  readonly tokens: Tokens;
  readonly #server: ServerProcess;
  #output = "";

  private constructor(args: readonly string[], { port, tokenFile, environment }: Required<HttpServerOptions>) {
    this.tokens = new Tokens(tokenFile);
    this.#server = new ServerProcess(["http", "--port", String(port), "--token-file", tokenFile, ...args], environment);
    this.#server.process.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#output += text;
    });
  }

  static async start(args: readonly string[] = [], options: HttpServerOptions = {}): Promise<HttpServer> {
    const { port = 0, tokenFile = newTokenFile(), environment = {} } = options;
    const server = new HttpServer(args, { port, tokenFile, environment });
    let hasEnded = false;
    void server.exited.then(() => {
      hasEnded = true;
    });
    while (!server.output.includes("mcpServers")) {
      if (hasEnded) throw new Error(`swank-mcp http has ended: ${server.errorText}`);
      await setTimeout(20);
    }
    return server;
  }

  /** Standard output so far. */
  get output(): string {
    return this.#output;
  }

  /** Standard error so far. */
  get errorText(): string {
    return this.#server.errorText;
  }

  get pid(): number | undefined {
    return this.#server.process.pid;
  }

  get exited(): Promise<ServerExit> {
    return this.#server.exited;
  }

  get url(): URL {
    return new URL(/^Serving (\S+)$/m.exec(this.output)?.[1] ?? "");
  }

  get port(): number {
    return Number(this.url.port);
  }

  /** Makes a token of this name, and returns where its holder connects. */
  client(name: string = randomUUID()): HttpAddress {
    return { url: this.url, token: this.tokens.add(name) };
  }

  kill(signal: NodeJS.Signals): void {
    this.#server.process.kill(signal);
  }

  /** Ends the server, and waits until it has. */
  async close(): Promise<ServerExit> {
    this.kill("SIGTERM");
    const exit = await this.exited;
    await rm(this.tokens.path, { force: true });
    return exit;
  }
}

export function newTokenFile(): string {
  return join(tmpdir(), `tokens-${randomUUID()}.json`);
}
