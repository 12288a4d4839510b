import {
  AgentSession,
  ImageHost,
  type OpenSession,
  readConfig,
  type ToolAnswer,
  ToolServer,
  type ToolServerOptions,
} from "swank-mcp";

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

/** Closes the server's connection and session. */
export async function closeServer({ agent }: ToolServer): Promise<void> {
  await agent.host.close();
  agent.close();
}

/** Calls a tool without cancellation. */
export function callTool(tools: ToolServer, name: string, args: object = {}): Promise<ToolAnswer> {
  return tools.call({ name, args, signal: new AbortController().signal, progress: () => {} });
}
