import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { type OpenSession, serveMcp } from "swank-mcp";
import { closeServer, toolServer } from "./mcp-server.js";

/** The SDK's client, connected in memory to a server that reaches Lisp through `open`. */
export interface McpClient {
  readonly client: Client;
  /** Errors reported by the server's side of the connection. */
  readonly errors: readonly Error[];
  call(name: string, args?: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<CallToolResult>;
  close(): Promise<void>;
}

export async function connectInMemory(open: OpenSession, args: readonly string[] = []): Promise<McpClient> {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const errors: Error[] = [];
  const tools = toolServer(open, args);
  const endpoint = serveMcp(tools, serverSide, { onClose: () => {}, onError: (error) => errors.push(error) });
  const client = new Client({ name: "test", version: "0" });
  await client.connect(clientSide);
  return {
    client,
    errors,
    call: async (name, callArgs = {}, options = {}) =>
      CallToolResultSchema.parse(await client.callTool({ name, arguments: callArgs }, undefined, options)),
    close: async () => {
      await client.close();
      await endpoint.close();
      await closeServer(tools);
    },
  };
}

/** Returns the text blocks of a result. */
export function texts(result: CallToolResult): string[] {
  return result.content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`));
}

/** Returns `data.type` of a refusal. */
export function refusalType(result: CallToolResult): unknown {
  const error = result.structuredContent?.["error"];
  const data = typeof error === "object" && error !== null && "data" in error ? error.data : undefined;
  return typeof data === "object" && data !== null && "type" in data ? data.type : undefined;
}
