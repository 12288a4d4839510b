import { setTimeout } from "node:timers/promises";
import {
  AgentSession,
  ImageHost,
  type OpenSession,
  readConfig,
  type ToolAnswer,
  ToolServer,
  type ToolServerOptions,
} from "swank-mcp";
import { checkFaults } from "./real-swank.js";

/** Milliseconds that an image has to list its faults. */
const LISTING_TIME = 2000;

/** Returns the tools for one client in this process, which reach Lisp through `open`. */
export function toolServer(
  open: OpenSession,
  args: readonly string[] = [],
  options: ToolServerOptions = {},
): ToolServer {
  return new ToolServer(new AgentSession(new ImageHost(open), readConfig(args, {})), options);
}

/** Returns the tools for another client of the same process and image. */
export function besides(tools: ToolServer, args: readonly string[] = []): ToolServer {
  return new ToolServer(new AgentSession(tools.agent.host, readConfig(args, {})));
}

/** Closes the server's connection and session. Fails if the runtime has recorded a fault that is not expected. */
export async function closeServer({ agent }: ToolServer, expectedFaults: readonly RegExp[] = []): Promise<void> {
  const faults = await recordedFaults(agent);
  await agent.host.close();
  agent.close();
  checkFaults(faults, expectedFaults);
}

/** Those of the session's image; none if it does not answer. */
async function recordedFaults({ host }: AgentSession): Promise<readonly string[]> {
  const listing = host.current().then((session) => session?.client.faults());
  const faults = await Promise.race([listing.catch(() => []), setTimeout(LISTING_TIME, [], { ref: false })]);
  return (faults ?? []).map(({ type, text, functions }) => `${type} in ${functions.join(", ")}: ${text}`);
}

/** Calls a tool without cancellation. */
export function callTool(tools: ToolServer, name: string, args: object = {}): Promise<ToolAnswer> {
  return tools.call({ name, args, signal: new AbortController().signal, progress: () => {} });
}
