import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { LAUNCH_CACHE } from "./test-cache.js";

/** Path of the installed `swank-mcp`, or of the program that is tried before a release. */
export const PROGRAM =
  process.env["SWANK_TEST_PROGRAM"] ?? fileURLToPath(new URL("../../../node_modules/.bin/swank-mcp", import.meta.url));

/** Keeps cores between test runs, because building one takes seconds. */
export const ENVIRONMENT = {
  SWANK_MCP_CACHE_DIR: LAUNCH_CACHE,
  SWANK_MCP_NO_USER_INIT: "1",
};

export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The installed `swank-mcp`, with pipes for its standard streams. */
export class ServerProcess {
  readonly process: ChildProcessWithoutNullStreams;
  /** Resolves when the program has exited and its output has been read. */
  readonly exited: Promise<ServerExit>;
  #errorText = "";

  /** @param folder - The program's directory. Default: that of the tests. */
  constructor(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}, folder?: string) {
    this.process = spawn(PROGRAM, args, { env: { ...process.env, ...ENVIRONMENT, ...environment }, cwd: folder });
    this.exited = once(this.process, "close").then(([code, signal]) => ({ code, signal }));
    this.process.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errorText += text;
    });
    // Writing to a server that has ended fails; the reason is in its standard error.
    this.process.stdin.on("error", () => undefined);
  }

  /** Standard error so far. */
  get errorText(): string {
    return this.#errorText;
  }

  /** Ends the input and waits until the program has exited. */
  async end(): Promise<ServerExit> {
    this.process.stdin.end();
    return this.exited;
  }
}
