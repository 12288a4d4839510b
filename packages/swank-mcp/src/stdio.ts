import { setImmediate } from "node:timers/promises";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CLOSE_TIME, SIGNAL_EXIT_CODES } from "./exit-codes.js";
import type { Log } from "./log.js";
import { type McpEndpoint, serveMcp } from "./sdk-adapter.js";
import { settledWithin } from "./settled-within.js";
import type { ToolServer } from "./tool-server.js";

/** Largest message taken from the client, in bytes. */
const MAX_MESSAGE = 64 * 1024 * 1024;
/** How long calls may go on after the client has said its last word, in milliseconds: `echo ... | swank-mcp` gets its answers. */
const DRAIN_TIME = 2000;
/** How long the first image may take to come up meanwhile, its core's building included. */
const LAUNCH_TIME = 120_000;

/**
 * Serves MCP on standard input and output until the client goes away or a signal comes, and leaves nothing behind.
 *
 * @returns the exit code, within a bounded time after the end.
 */
export async function serveStdio(tools: ToolServer, log: Log): Promise<number> {
  const ending = new Ending();
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE });
  const endpoint = await serveMcp(tools, transport, {
    onClose: () => ending.reach("the transport closed", 1),
    onError: (error) => log(`transport: ${error.message}`),
  });
  const first = await ending.reached;
  log(`ending: ${first.why}`);
  const { exitCode } = first.drain ? await Promise.race([drain(tools, first), ending.urgent]) : first;
  tools.cutOff();
  // What was cut off is answered before the transport closes.
  await setImmediate();
  await settledWithin(CLOSE_TIME, closeAll(endpoint, tools));
  return exitCode;
}

/** Waits for the calls that run, but not for ever; an image that they wait for gets the time that it needs to come up. */
async function drain(tools: ToolServer, reached: Reached): Promise<Reached> {
  // The last messages may have come with the end: their calls begin first.
  await setImmediate();
  await settledWithin(LAUNCH_TIME, tools.ready());
  await settledWithin(DRAIN_TIME, tools.idle());
  return reached;
}

async function closeAll(endpoint: McpEndpoint, tools: ToolServer): Promise<void> {
  await endpoint.close();
  await tools.close();
}

interface Reached {
  readonly why: string;
  readonly exitCode: number;
  /** The client may still be reading. */
  readonly drain: boolean;
}

/** Waits for the first of all the things that end the server; later ones change nothing. */
class Ending {
  readonly reached: Promise<Reached>;
  /** The first of those after which nobody waits for answers. */
  readonly urgent: Promise<Reached>;
  #resolve: (reached: Reached) => void = () => {};
  #resolveUrgent: (reached: Reached) => void = () => {};

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.urgent = new Promise((resolve) => {
      this.#resolveUrgent = resolve;
    });
    for (const event of ["end", "close"]) process.stdin.once(event, () => this.reach("the input ended", 0, true));
    process.stdin.once("error", (error) => this.reach(`the input failed: ${error.message}`, 1));
    // Stays for good: a write that fails later must not become an uncaught exception.
    process.stdout.on("error", (error) => this.reach(`nobody reads the output: ${error.message}`, 0));
    for (const [signal, exitCode] of Object.entries(SIGNAL_EXIT_CODES))
      process.once(signal, () => this.reach(signal, exitCode));
  }

  reach(why: string, exitCode: number, drain = false): void {
    this.#resolve({ why, exitCode, drain });
    if (!drain) this.#resolveUrgent({ why, exitCode, drain });
  }
}
