import { setImmediate } from "node:timers/promises";
import {
  type End,
  type Lifetime,
  type OutputQueue,
  type ParentWatch,
  type Service,
  settledWithin,
  watchParent,
} from "../base/lifetime.js";
import type { Log } from "../base/log.js";
import { resetSession } from "../tools/reset-session.js";
import type { ToolServer } from "../tools/tool-server.js";
import { clientText, isKnownMessage, serveMcp } from "./server.js";
import { LineTransport, type Request } from "./transport.js";

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
  /** Standard output. */
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
  let parent: ParentWatch | undefined;
  const transport = new LineTransport({
    input: process.stdin,
    output,
    maxLine: MAX_MESSAGE,
    isKnown: isKnownMessage,
    isUrgent,
    onNotJson: hintOnce(consoleCommand),
    onEnd: (error) => {
      parent?.end();
      lifetime.end(
        error === undefined
          ? inputEnd(transport)
          : { why: `the input failed: ${error.message}`, exitCode: 1, hurry: true },
      );
    },
  });
  const endpoint = serveMcp(tools, transport, {
    onClose: () => lifetime.end({ why: "the transport closed", exitCode: 1, hurry: true }),
    onError: (error) => log(`transport: ${error.message}`),
    onClient: (client) => {
      tools.agent.name.set(client?.name);
      log(`client: ${clientText(client)}`);
      // A launcher that ends after it has started the server has ended by now.
      parent ??= watchParent(() =>
        lifetime.end({ why: "the process that started the server has ended", exitCode: 0, drain: true }),
      );
    },
    // While the client reads the list, the image starts. A client may start a second process only to probe the server.
    onList: () => {
      if (tools.agent.config.attach === undefined) tools.agent.host.start();
    },
  });
  return {
    patience: READER_PATIENCE,
    lostReader: 0,
    drain: () => drain(tools, transport, output, drainSeconds),
    cutOff() {
      tools.cutOff();
      transport.serveRest();
    },
    async close() {
      parent?.end();
      // The transport closes after the answers of the calls that were cut off.
      await setImmediate();
      await endpoint.close();
      await tools.agent.host.close();
      tools.agent.close();
    },
  };
}

function inputEnd({ hasMessage, hasNonsense }: LineTransport): End {
  if (hasNonsense && !hasMessage) return { why: "the input had no message", exitCode: NOTHING_SERVED };
  return { why: "the input ended", exitCode: 0, drain: true };
}

/** Whether a request is served ahead of others: `ping` checks that the server is alive, and reset-session ends what keeps it busy. */
function isUrgent({ method, params }: Request): boolean {
  if (method === "ping") return true;
  return method === "tools/call" && params !== undefined && "name" in params && params.name === resetSession.name;
}

/** Reports once that the input is not from an MCP client, and names the console. */
function hintOnce(consoleCommand: string): () => void {
  let isTold = false;
  return () => {
    if (isTold) return;
    isTold = true;
    process.stderr.write(`swank-mcp: ${NOT_FOR_PEOPLE} ${consoleCommand}\n`);
  };
}

/** Waits for running calls for a limited time, which includes the launch of an image that they need. */
async function drain(tools: ToolServer, transport: LineTransport, output: OutputQueue, seconds: number): Promise<void> {
  // Lets the calls of the last messages begin.
  await setImmediate();
  // An image that no call needs is not awaited.
  await settledWithin(LAUNCH_TIME, Promise.race([transport.idle(), tools.agent.host.current()]));
  for (let taken = -1; transport.isHolding && output.taken > taken; ) {
    taken = output.taken;
    await settledWithin(READER_PATIENCE, transport.idle());
  }
  await settledWithin(seconds * 1000, transport.idle());
}
