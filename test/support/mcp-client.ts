import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import type { OpenSession } from "swank-mcp";
import type { McpDriver } from "./mcp-driver.js";
import { McpInProcess } from "./mcp-in-process.js";
import { closeServer, toolServer } from "./mcp-server.js";

/** The SDK's client, connected to a server in this process that reaches Lisp through `open`. */
export interface McpClient {
  readonly client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
  close(): Promise<void>;
}

export async function connectInProcess(open: OpenSession): Promise<McpClient> {
  const tools = toolServer(open);
  const client = new Client({ name: "test", version: "0" });
  await client.connect(transportOf(new McpInProcess(tools)));
  return {
    client,
    call: async (name, args = {}) => CallToolResultSchema.parse(await client.callTool({ name, arguments: args })),
    close: async () => {
      await client.close();
      await closeServer(tools);
    },
  };
}

/** Lets a client of the SDK use a driver's connection. From then on the driver itself receives nothing. */
export function transportOf(driver: McpDriver & { close(): Promise<void> }): Transport {
  const transport: Transport = {
    start: async () => driver.handTo(transport),
    send: async (message) => driver.send(message),
    close: () => driver.close(),
  };
  return transport;
}
