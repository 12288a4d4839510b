import {
  Client,
  type ClientCapabilities,
  type ElicitResult,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as FirstHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { HttpAddress } from "./http-server.js";
import { blocks } from "./mcp-results.js";
import { ENVIRONMENT, PROGRAM } from "./server-process.js";

/** The ways in which version 2 of the SDK's client negotiates the revision. */
export const MODES: readonly VersionNegotiationMode[] = ["auto", "legacy", { pin: "2026-07-28" }];

const CLIENT = { name: "test", version: "0" };
const capabilities = { elicitation: { form: {} } };
/** The installed server, with these options. */
function server(args: readonly string[] = []) {
  // The SDK passes only a part of this process's environment on.
  return { command: PROGRAM, args: [...args], env: { ...ENVIRONMENT, ...named("SBCL", "SWANK") } };
}

/** Answers the user's question. The signal is aborted if the question is withdrawn. */
export type UserAnswer = (message: string, signal: AbortSignal) => Promise<ElicitResult>;

/** The options of the installed server, which the client starts, or an HTTP server. */
type Place = readonly string[] | HttpAddress;

function isStarted(at: Place | undefined): at is readonly string[] | undefined {
  return at === undefined || Array.isArray(at);
}

/** Connects version 1 of the SDK's client. */
export async function connectFirst(answer: UserAnswer, at?: Place): Promise<FirstClient> {
  const client = new FirstClient(CLIENT, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => answer(params.message, signal));
  if (isStarted(at)) await client.connect(new FirstTransport(server(at)));
  else await client.connect(new FirstHttpTransport(at.url, authorized(at)));
  return withTools(client);
}

/** Connects version 2 of the SDK's client. @param extensions - What it declares beside the protocol's capabilities. */
export async function connectSecond(
  mode: VersionNegotiationMode,
  answer: UserAnswer,
  at?: Place,
  extensions: ClientCapabilities["extensions"] = {},
): Promise<Client> {
  const client = new Client(CLIENT, { capabilities: { ...capabilities, extensions }, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) => answer(params.message, mcpReq.signal));
  const transport = isStarted(at)
    ? new StdioClientTransport(server(at))
    : new StreamableHTTPClientTransport(at.url, authorized(at));
  await client.connect(transport);
  return withTools(client);
}

function authorized({ token }: HttpAddress) {
  return { requestInit: { headers: { Authorization: `Bearer ${token}` } } };
}

/** Returns the text of a call's answer. */
export async function textFrom(
  client: { callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown> },
  name: string,
  args: Record<string, unknown>,
): Promise<string> {
  return blocks(CallToolResultSchema.parse(await client.callTool({ name, arguments: args }))).join("\n");
}

/** Lists the tools: from then on the client validates every answer, including refusals, against the output schemas. */
async function withTools<T extends { listTools(): Promise<unknown> }>(client: T): Promise<T> {
  await client.listTools();
  return client;
}

function named(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
