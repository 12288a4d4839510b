import { ProtocolError, SdkError, SdkErrorCode, type Server, type ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Ask, Question, Reply } from "../session/approval-places.js";
import { oneLine } from "../text/cut.js";
import { METHOD_NOT_FOUND } from "./sent-message.js";

const capabilitiesSchema = z.looseObject({
  elicitation: z.looseObject({ form: z.unknown().optional(), url: z.unknown().optional() }).optional(),
});

/** Whether a client with these capabilities can show its user forms. A client that names no kind of elicitation supports forms. */
export function canAsk(capabilities: unknown): boolean {
  const { elicitation } = capabilitiesSchema.safeParse(capabilities).data ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Most characters of a client's error that a refusal repeats. */
const MAX_REASON = 300;

/**
 * How long after a call the answer to its first question counts, in milliseconds. The SDK's clients, and others, give up a call after 60 s; the
 * refusal must come before, or the agent never learns why.
 */
const PATIENCE = 55_000;

/** The least time in which a user can answer, in milliseconds. */
const LEAST_TIME = 3000;

const replySchema = z.looseObject({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.looseObject({ answer: z.unknown().optional() }).nullish(),
});

/**
 * Asks by elicitation. The timeout and the signal also cancel the question in the client. Once the user has answered a question, further ones
 * have their whole time.
 */
export function askThrough({ mcpReq }: ServerContext): Ask {
  const begun = performance.now();
  let isAnswered = false;
  return async (question, { timeout: given, signal }): Promise<Reply> => {
    const left = Math.round(begun + PATIENCE - performance.now());
    const timeout = isAnswered ? given : Math.min(given, left);
    if (timeout < LEAST_TIME) return { kind: "failed", why: "earlier questions took all the time of this call" };
    try {
      // The question belongs to the call: over HTTP, it is sent on the stream of the answer.
      const result = await mcpReq.send({ method: "elicitation/create", params: formOf(question) }, { timeout, signal });
      isAnswered = true;
      return readReply(result);
    } catch (error) {
      return failedReply(error, Math.round(timeout / 1000));
    }
  };
}

/** Asks by elicitation apart from any call; `undefined` if the client does not support it. */
export function askOutside(server: Server): Ask | undefined {
  if (!canAsk(server.getClientCapabilities())) return undefined;
  return async (question, { timeout: given, signal }): Promise<Reply> => {
    // The other agent's client may give up its call.
    const timeout = Math.min(given, PATIENCE);
    try {
      const asked = { method: "elicitation/create" as const, params: formOf(question) };
      return readReply(await server.request(asked, { timeout, signal }));
    } catch (error) {
      return failedReply(error, Math.round(timeout / 1000));
    }
  };
}

export function formOf({ message, choices }: Question) {
  const answer = { type: "string" as const, title: "Allow?", enum: [...choices] };
  return { message, requestedSchema: { type: "object" as const, properties: { answer }, required: ["answer"] } };
}

export function readReply(given: unknown): Reply {
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
