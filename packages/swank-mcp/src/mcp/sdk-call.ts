import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Ask, Question, Reply } from "../agent/elicitation.js";
import type { ToolCall } from "../calls/run-tool.js";
import { oneLine } from "../text/cut.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import type { ToolServer } from "../tools/tool-server.js";
import type { ReceivedCall, SentCall } from "./direct-calls.js";
import { ProgressReporter } from "./progress.js";
import { canAsk, namedCapabilities } from "./sdk-client.js";
import type { CallRequest, Round, SuspendedCalls } from "./suspended-calls.js";
import { METHOD_NOT_FOUND, type MessageId } from "./transport/message.js";

/** Most characters of a client's error that a refusal repeats. */
const MAX_REASON = 300;

/**
 * How long after a call the answer to its first question counts, in milliseconds. The SDK's clients, and others, give up a call after 60 s; the
 * refusal must come before, or the agent never learns why.
 */
const PATIENCE = 55_000;
/** The least time in which a user can answer, in milliseconds. */
const LEAST_TIME = 3000;

/** Key of the question in a result that asks one. */
const QUESTION = "approval";

const replySchema = z.looseObject({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.looseObject({ answer: z.unknown().optional() }).nullish(),
});

/**
 * Serves a call of a client of a protocol revision up to 2025: the server asks by its own requests while the call runs.
 *
 * @param server - The server that asks; `undefined` if the client cannot ask its user.
 */
export function callAskingInside(
  tools: ToolServer,
  received: ReceivedCall,
  server: Server | undefined,
): Promise<CallToolResult> {
  const ask = server === undefined ? undefined : askThrough(server);
  return reported(received, async (request) => toolResult(await tools.call(request)), ask);
}

/** Serves a request of a client of protocol revision 2026-07-28, which asks its user between two requests for the same call. */
export function callAskingBetween(
  tools: ToolServer,
  calls: SuspendedCalls,
  call: SentCall,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  return reported(receivedThroughSdk(call, context), async (request) => {
    const state = context.mcpReq.requestState();
    if (typeof state === "string") return resumed(tools, calls, state, request, context);
    if (!canAsk(namedCapabilities(context))) return toolResult(await tools.call(request));
    return roundResult(await calls.begin(request));
  });
}

/** A call that the SDK has received. */
export function receivedThroughSdk(call: SentCall, { mcpReq }: ServerContext): ReceivedCall {
  const { signal, _meta: meta } = mcpReq;
  const notify = (method: string, params: object) => mcpReq.notify({ method, params: { ...params } });
  return { call, signal, progressToken: meta?.progressToken, notify };
}

async function resumed(
  tools: ToolServer,
  calls: SuspendedCalls,
  state: string,
  request: CallRequest,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    return roundResult(await calls.resume(state, readReply(context.mcpReq.inputResponses?.[QUESTION]), request));
  } catch (error) {
    return toolResult(tools.refuse(request, error));
  }
}

/** Runs a call, and reports its progress if the client wants it. */
async function reported<T>(received: ReceivedCall, run: (call: ToolCall) => Promise<T>, ask?: Ask): Promise<T> {
  const { signal, progressToken } = received;
  const { name, arguments: args } = received.call;
  if (progressToken === undefined) return run({ name, args, signal, progress: ignored, ask });
  const progress = progressReporter(progressToken, received);
  try {
    return await run({ name, args, signal, progress: (text) => progress.add(text), ask });
  } finally {
    progress.end();
  }
}

function ignored(): void {
  // The client did not ask for progress.
}

function progressReporter(progressToken: MessageId, { notify }: ReceivedCall): ProgressReporter {
  return new ProgressReporter((note) =>
    notify("notifications/progress", { progressToken, ...note })
      // The transport notices a client that has disconnected.
      .catch(() => undefined),
  );
}

/**
 * Asks by elicitation. The timeout and the signal also cancel the question in the client. Once the user has answered a question, further ones
 * have their whole time.
 */
function askThrough(server: Server): Ask {
  const begun = performance.now();
  let isAnswered = false;
  return async (question, { timeout: given, signal }): Promise<Reply> => {
    const left = Math.round(begun + PATIENCE - performance.now());
    const timeout = isAnswered ? given : Math.min(given, left);
    if (timeout < LEAST_TIME) return { kind: "failed", why: "earlier questions took all the time of this call" };
    try {
      const result = await server.request(
        { method: "elicitation/create", params: formOf(question) },
        { timeout, signal },
      );
      isAnswered = true;
      return readReply(result);
    } catch (error) {
      return failedReply(error, Math.round(timeout / 1000));
    }
  };
}

function roundResult(round: Round): CallToolResult | InputRequiredResult {
  if (round.kind === "answered") return toolResult(round.answer);
  const { question, state } = round;
  return inputRequired({
    inputRequests: { [QUESTION]: inputRequired.elicit(formOf(question)) },
    requestState: state,
  });
}

function formOf({ message, choices }: Question) {
  const answer = { type: "string" as const, title: "Allow?", enum: [...choices] };
  return { message, requestedSchema: { type: "object" as const, properties: { answer }, required: ["answer"] } };
}

function readReply(given: unknown): Reply {
  const reply = replySchema.safeParse(given).data;
  if (reply === undefined) return { kind: "failed", why: "the client's answer was malformed" };
  if (reply.action !== "accept") return { kind: "declined" };
  const choice = reply.content?.answer;
  return typeof choice === "string"
    ? { kind: "chosen", choice }
    : { kind: "failed", why: "the client's answer names no choice" };
}

/** The reply for a rejection of the SDK: a timeout, a malformed answer, or an error or disconnection of the client. */
function failedReply(error: unknown, seconds: number): Reply {
  if (error instanceof ProtocolError && error.code === METHOD_NOT_FOUND) return { kind: "unable" };
  const code = error instanceof SdkError ? error.code : undefined;
  if (code === SdkErrorCode.RequestTimeout) return { kind: "unanswered", seconds };
  if (code === SdkErrorCode.InvalidResult) return { kind: "failed", why: "the client's answer was malformed" };
  const message = error instanceof Error ? error.message : String(error);
  return { kind: "failed", why: `the question failed in the client (${oneLine(message, MAX_REASON)})` };
}

function toolResult({ blocks, isError, structured, meta }: ToolAnswer): CallToolResult {
  return {
    content: blocks.map((text) => ({ type: "text", text })),
    isError,
    ...(structured === undefined ? {} : { structuredContent: { ...structured } }),
    ...(meta === undefined ? {} : { _meta: { ...meta } }),
  };
}
