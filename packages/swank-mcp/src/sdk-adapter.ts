import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ElicitResultSchema,
  ErrorCode,
  JSONRPCMessageSchema,
  type Tool as ListedTool,
  ListToolsRequestSchema,
  McpError,
  type ServerNotification,
  type ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import type { Ask, Question, Reply } from "./elicitation.js";
import { oneLine } from "./format/cut.js";
import { INSTRUCTIONS } from "./instructions.js";
import { ProgressReporter } from "./progress.js";
import type { Tool } from "./tool.js";
import type { ToolAnswer } from "./tool-answer.js";
import type { ToolServer } from "./tool-server.js";
import { VERSION } from "./version.js";

/** Characters of a client's error that a refusal repeats. */
const MAX_REASON = 300;

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A server that speaks MCP over one transport. */
export interface McpEndpoint {
  /** Stops listening and cancels the calls that run. */
  close(): Promise<void>;
}

export interface McpEvents {
  /** The transport has ended, whoever ended it. */
  onClose(): void;
  /** Something came in that is no message, or could not be sent. */
  onError(error: Error): void;
}

/**
 * Serves the tools over a transport. The only place where the SDK's words are turned into this package's, and back.
 *
 * It takes the SDK's lower level, because the higher one checks arguments by itself and answers them, and unknown tools, in words that
 * name no remedy.
 */
export async function serveMcp(tools: ToolServer, transport: Transport, events: McpEvents): Promise<McpEndpoint> {
  const server = new Server(
    { name: "swank-mcp", title: "Common Lisp (Swank)", version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator: UNUSED_VALIDATOR },
  );
  server.onclose = () => events.onClose();
  server.onerror = (error) => events.onError(error);
  let list: { readonly tools: ListedTool[] } | undefined;
  server.setRequestHandler(ListToolsRequestSchema, () => {
    list ??= { tools: tools.tools.map(listed) };
    return list;
  });
  server.setRequestHandler(callSchema, ({ params }, extra) => {
    const canAsk = server.getClientCapabilities()?.elicitation?.form !== undefined;
    return call(tools, params, extra, canAsk ? askThrough(extra) : undefined);
  });
  await server.connect(transport);
  return server;
}

/** Whether the SDK takes such a message: what it does not take it drops without an answer. */
export function isKnownMessage(message: object): boolean {
  return JSONRPCMessageSchema.safeParse(message).success;
}

/**
 * A call whose name and arguments may be anything: for the SDK they are hidden in `given`, since it would answer what does not fit with a
 * protocol error that no agent can read. It is for the tools to refuse.
 */
const callSchema = CallToolRequestSchema.extend({
  params: z
    .looseObject({ name: z.unknown().optional(), arguments: z.unknown().optional() })
    .transform(({ name, arguments: args, ...rest }) => ({ ...rest, name: "", given: { name, args } })),
});

/** The SDK would set up its JSON Schema validator at every start, to check answers to elicitations that it sends itself; here it sends none. */
const UNUSED_VALIDATOR = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: "not checked" }) as const,
};

async function call(
  tools: ToolServer,
  { given }: z.output<typeof callSchema>["params"],
  extra: Extra,
  ask: Ask | undefined,
): Promise<CallToolResult> {
  const progress = progressReporter(extra);
  try {
    const answer = await tools.call({
      ...given,
      signal: extra.signal,
      progress: (text) => progress?.add(text),
      ask,
    });
    return toolResult(answer);
  } finally {
    progress?.end();
  }
}

/** Asks by elicitation. The timeout and the signal cancel the question on the client's side as well. */
function askThrough(extra: Extra): Ask {
  return async ({ message, choices }, options): Promise<Reply> => {
    const request = {
      method: "elicitation/create",
      params: { message, requestedSchema: answerSchema(choices) },
    } as const;
    try {
      return readReply(await extra.sendRequest(request, ElicitResultSchema, options));
    } catch (error) {
      return failedReply(error);
    }
  };
}

function readReply({ action, content }: z.output<typeof ElicitResultSchema>): Reply {
  if (action !== "accept") return { kind: "declined" };
  const choice = content?.["answer"];
  return typeof choice === "string"
    ? { kind: "chosen", choice }
    : { kind: "failed", why: "the client's answer names no choice" };
}

/** The SDK rejects alike for a time that is up, a client that answers with an error or has gone, and an answer that makes no sense. */
function failedReply(error: unknown): Reply {
  if (error instanceof McpError && error.code === ErrorCode.RequestTimeout) return { kind: "unanswered" };
  if (error instanceof z.ZodError) return { kind: "failed", why: "the client's answer was malformed" };
  const message = error instanceof Error ? error.message : String(error);
  return { kind: "failed", why: `the question failed in the client (${oneLine(message, MAX_REASON)})` };
}

function answerSchema(choices: Question["choices"]) {
  const answer = { type: "string", title: "Allow?", enum: [...choices] } as const;
  return { type: "object" as const, properties: { answer }, required: ["answer"] };
}

/** @returns `undefined` when the client did not ask to be told. */
function progressReporter(extra: Extra): ProgressReporter | undefined {
  const progressToken = extra._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return new ProgressReporter((note) =>
    extra
      .sendNotification({ method: "notifications/progress", params: { progressToken, ...note } })
      // A client that has gone is noticed by the transport.
      .catch(() => undefined),
  );
}

function toolResult({ blocks, isError, structured, meta }: ToolAnswer): CallToolResult {
  return {
    content: blocks.map((text) => ({ type: "text", text })),
    isError,
    ...(structured === undefined ? {} : { structuredContent: { ...structured } }),
    ...(meta === undefined ? {} : { _meta: { ...meta } }),
  };
}

function listed(tool: Tool): ListedTool {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    title,
    description,
    inputSchema,
    annotations,
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
}
