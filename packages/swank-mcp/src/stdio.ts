import { setImmediate } from "node:timers/promises";
import { CLOSE_TIME, type ProgramEnd, SIGNAL_EXIT_CODES, SIGNAL_PATIENCE } from "./exit-codes.js";
import type { Log } from "./log.js";
import { isKnownMessage, type McpEndpoint, serveMcp } from "./sdk-adapter.js";
import { settledWithin } from "./settled-within.js";
import type { ToolServer } from "./tool-server.js";
import { LineTransport } from "./transport/line-transport.js";
import type { OutputQueue } from "./transport/output-queue.js";

/** Largest message that is taken, in bytes: twice what a message to Swank can hold, since JSON escapes quotes and line feeds. */
const MAX_MESSAGE = 32 * 1024 * 1024;
/** How long the first image may take to come up after the input has ended, its core's building included. */
const LAUNCH_TIME = 120_000;
/** How long a client that has ended its input may leave answers unread, in milliseconds. */
const READER_PATIENCE = 10_000;

export interface StdioOptions {
  readonly tools: ToolServer;
  /** Standard output. */
  readonly output: OutputQueue;
  readonly log: Log;
  /** Seconds that calls may go on after the input has ended. */
  readonly drainSeconds: number;
}

/** Serves MCP on standard input and output until the client goes away or a signal comes, and leaves nothing behind but unread answers. */
export async function serveStdio({ tools, output, log, drainSeconds }: StdioOptions): Promise<ProgramEnd> {
  const ending = new Ending();
  const transport = new LineTransport({
    input: process.stdin,
    output,
    maxLine: MAX_MESSAGE,
    isKnown: isKnownMessage,
    onEnd: (error) =>
      error === undefined
        ? ending.reach("the input ended", 0, true)
        : ending.reach(`the input failed: ${error.message}`, 1),
  });
  const endpoint = await serveMcp(tools, transport, {
    onClose: () => ending.reach("the transport closed", 1),
    onError: (error) => log(`transport: ${error.message}`),
  });
  const first = await ending.reached;
  log(`ending: ${first.why}`);
  const draining = () => drain(tools, transport, output, drainSeconds).then(() => first);
  const { exitCode } = first.drain ? await Promise.race([draining(), ending.urgent]) : first;
  tools.cutOff();
  transport.serveRest();
  // What was cut off is answered before the transport closes.
  await setImmediate();
  await settledWithin(CLOSE_TIME, closeAll(endpoint, tools));
  return { exitCode, patience: exitCode === 0 ? READER_PATIENCE : SIGNAL_PATIENCE };
}

/** Waits for the calls that run, but not for ever; an image that they wait for gets the time that it needs to come up. */
async function drain(tools: ToolServer, transport: LineTransport, output: OutputQueue, seconds: number): Promise<void> {
  // The last messages may have come with the end: their calls begin first.
  await setImmediate();
  await settledWithin(LAUNCH_TIME, tools.ready());
  for (let taken = -1; transport.isHolding && output.taken > taken; ) {
    taken = output.taken;
    await settledWithin(READER_PATIENCE, transport.idle());
  }
  await settledWithin(seconds * 1000, transport.idle());
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
  /** The first of those that leave no time for calls to finish. */
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
