import { fileURLToPath } from "node:url";
import {
  type CallToolResult,
  Client,
  type ElicitResult,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { testCache } from "./test-cache.js";

const BIN = fileURLToPath(new URL("../../../packages/swank-mcp/bin/swank-mcp.js", import.meta.url));

/** The ways in which version 2 of the SDK's client negotiates the revision. */
export const MODES: readonly VersionNegotiationMode[] = ["auto", "legacy", { pin: "2026-07-28" }];

export interface ModernOptions {
  readonly mode: VersionNegotiationMode;
  readonly args?: readonly string[];
  /** Answers the user's questions; absent for a client without elicitation. */
  readonly answer?: (message: string) => Promise<ElicitResult>;
}

/** Starts the installed server and connects version 2 of the SDK's client. */
export async function connectModern({ mode, args = [], answer }: ModernOptions): Promise<Client> {
  const client = new Client(
    { name: "test", version: "0" },
    {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode },
    },
  );
  if (answer !== undefined) client.setRequestHandler("elicitation/create", ({ params }) => answer(params.message));
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [BIN, "--no-user-init", "--cache-dir", testCache("swank-mcp"), ...args],
    }),
  );
  // After this call the client validates every answer, including refusals, against the output schemas.
  await client.listTools();
  return client;
}

/** Returns the text blocks of a result. */
export function textsOf({ content }: CallToolResult): string[] {
  return content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`));
}

/** Returns the text of evaluate-lisp's answer. */
export async function evaluateWith(client: Client, code: string): Promise<string> {
  return textsOf(await client.callTool({ name: "evaluate-lisp", arguments: { code } })).join("\n");
}
