import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { type DriverOptions, McpDriver } from "./mcp-driver.js";
import { type ServerExit, ServerProcess } from "./server-process.js";

export interface StdioOptions extends DriverOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** The server's directory. Default: that of the tests. */
  readonly folder?: string;
}

/** The driver of an installed `swank-mcp` that it starts. */
export class McpStdio extends McpDriver {
  readonly process: ChildProcessWithoutNullStreams;
  readonly exited: Promise<ServerExit>;
  readonly #server: ServerProcess;

  constructor(args: readonly string[] = [], { environment = {}, folder, ...options }: StdioOptions = {}) {
    const server = new ServerProcess(args, environment, folder);
    super(server.process, options);
    this.#server = server;
    this.process = server.process;
    this.exited = server.exited.then((exit) => {
      this.fail(`it had ended (${exit.code ?? exit.signal}). ${server.errorText}`);
      return exit;
    });
  }

  /** Starts and initializes a server. */
  static async start(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) {
    const server = new McpStdio(args, { environment });
    await server.initialize();
    return server;
  }

  /** The server's standard error so far. */
  get errorText(): string {
    return this.#server.errorText;
  }

  /** Ends the input and waits until the server has exited. */
  async end(): Promise<ServerExit> {
    this.process.stdin.end();
    return this.exited;
  }

  /** Ends the input, and the server itself if it still runs after 2 s. */
  async close(): Promise<void> {
    const patience = setTimeout(() => this.process.kill(), 2000);
    await this.end();
    clearTimeout(patience);
  }
}
