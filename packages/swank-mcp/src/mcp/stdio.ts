import { setImmediate } from "node:timers/promises";
import { type Lifetime, type OutputQueue, type Service, settledWithin, watchParent } from "../base/lifetime.js";
import type { Log } from "../base/log.js";
import type { ToolServer } from "../tools/tool-server.js";
import { clientText } from "./server.js";
import { type McpEndpoint, serveMcp } from "./stdio-server.js";

/** Largest message that is taken, in bytes: twice what a message to Swank can hold, since JSON escapes quotes and line feeds. */
const MAX_MESSAGE = 32 * 1024 * 1024;

/** Longest wait for the first image after the input has ended, including the time to build its core, in milliseconds. */
const LAUNCH_TIME = 120_000;

/** How long a client that has ended its input may leave answers unread, in milliseconds. */
const READER_PATIENCE = 10_000;

const NOT_FOR_PEOPLE = "received a line that is not JSON. This command serves MCP clients; for a Lisp prompt, run:";

/** Exit code when the input had lines, and none was a message: it was meant for another program. */
const NOTHING_SERVED = 1;

export interface StdioOptions {
  readonly tools: ToolServer;
  readonly output: OutputQueue;
  readonly log: Log;
  /** Seconds that calls may still run after the input has ended. */
  readonly drainSeconds: number;
  /** The command that opens the console, for a person who types to the server. */
  readonly consoleCommand: string;
}

/** Serves MCP on standard input and output until the client disconnects. */
export async function serveStdio(options: StdioOptions, lifetime: Lifetime): Promise<Service> {
  const { tools, output, log, drainSeconds, consoleCommand } = options;
  let endWatch: (() => void) | undefined;
  let hasNonsense = false;
  const endpoint = serveMcp(
    tools,
    { input: process.stdin, output, maxLine: MAX_MESSAGE },
    {
      onNotJson: () => {
        if (!hasNonsense) process.stderr.write(`swank-mcp: ${NOT_FOR_PEOPLE} ${consoleCommand}\n`);
        hasNonsense = true;
      },
      onEnd: (error) => {
        endWatch?.();
        if (error !== undefined) lifetime.end({ why: `the input failed: ${error.message}`, exitCode: 1, hurry: true });
        else if (hasNonsense && !endpoint.hasMessage)
          lifetime.end({ why: "the input had no message", exitCode: NOTHING_SERVED });
        else lifetime.end({ why: "the input ended", exitCode: 0, drain: true });
      },
      onClose: () => lifetime.end({ why: "the transport closed", exitCode: 1, hurry: true }),
      onError: (error) => log(`transport: ${error.message}`),
      onClient: (client) => {
        tools.agent.name.set(client?.name);
        log(`client: ${clientText(client)}`);
        // A launcher that ends after it has started the server has ended by now.
        endWatch ??= watchParent(() =>
          lifetime.end({ why: "the process that started the server has ended", exitCode: 0, drain: true }),
        );
      },
      // While the client reads the list, the image starts. A client may start a second process only to probe the server.
      onList: () => {
        if (tools.agent.config.attach === undefined) tools.agent.host.start();
      },
    },
  );
  return {
    patience: READER_PATIENCE,
    lostReader: 0,
    drain: () => drain(tools, endpoint, output, drainSeconds),
    cutOff: () => tools.cutOff(),
    async close() {
      endWatch?.();
      // The transport closes after the answers of the calls that were cut off.
      await setImmediate();
      await endpoint.close();
      await tools.agent.host.close();
      tools.agent.close();
    },
  };
}

/** Waits for running calls for a limited time, which includes the launch of an image that they need. */
async function drain(tools: ToolServer, endpoint: McpEndpoint, output: OutputQueue, seconds: number): Promise<void> {
  // Lets the calls of the last messages begin.
  await setImmediate();
  // An image that no call needs is not awaited.
  await settledWithin(LAUNCH_TIME, Promise.race([endpoint.idle(), tools.agent.host.current()]));
  for (let taken = -1; endpoint.isHolding && output.taken > taken; ) {
    taken = output.taken;
    await settledWithin(READER_PATIENCE, endpoint.idle());
  }
  await settledWithin(seconds * 1000, endpoint.idle());
}
