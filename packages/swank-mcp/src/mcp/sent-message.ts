import { isJsonObject, type JsonObject } from "../base/answer.js";
import { shown } from "../text/cut.js";

/** An id that JSON-RPC and MCP allow. */
export type MessageId = string | number;

export function isId(value: unknown): value is MessageId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

export interface Request {
  readonly jsonrpc: "2.0";
  readonly id: MessageId;
  readonly method: string;
  readonly params?: object | undefined;
}

interface Notification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: object | undefined;
}

export interface Response {
  readonly jsonrpc: "2.0";
  readonly id?: MessageId | null | undefined;
  readonly result?: unknown;
  readonly error?: unknown;
}

export type Message = Request | Notification | Response;

/** JSON-RPC's error codes for lines that cannot be served. */
const PARSE_ERROR = -32700;

export const INVALID_REQUEST = -32600;

export const INVALID_PARAMS = -32602;

export const METHOD_NOT_FOUND = -32601;

export const INTERNAL_ERROR = -32603;

/** Returns the answer to a line that is not a message, or to a request that cannot be served. */
function errorResponse(id: MessageId | null, code: number, message: string): Response {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

/** Whether a message, of this module or of the SDK, needs an answer. */
export function isRequest<M extends object>(
  message: M,
): message is Extract<M, { readonly id: unknown; readonly method: string }> {
  return "method" in message && "id" in message;
}

export function isResponse(message: Message): message is Response {
  return !("method" in message);
}

/** Returns the id of the request that a notification cancels; `undefined` for any other message. */
export function cancelledId(message: Message): unknown {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  return message.params !== undefined && "requestId" in message.params ? message.params.requestId : undefined;
}

type SentParams = { readonly params: JsonObject | undefined } | { readonly problem: string };

const ARGUMENTS = "arguments";

/** The last part of the keys under which clients name what they can do: at `initialize`, or in every request's `_meta`. */
const CAPABILITIES = /(?:^|\/)(?:capabilities|clientCapabilities)$/;

/**
 * Reads the parameters of a request or notification as hosts send them: `null` for what is left out, `[]` for an empty object, all parameters as
 * a JSON text, a capability as `true` or `false`. The arguments of a call stay as they are.
 */
function readParams(given: unknown): SentParams {
  const params = objectIn(given);
  if (params === undefined) return { params };
  if (!isJsonObject(params)) return { problem: '"params" must be an object' };
  const { _meta: sentMeta, ...rest } = params;
  const meta = objectIn(sentMeta);
  if (meta !== undefined && !isJsonObject(meta)) return { problem: '"_meta" must be an object' };
  const token = meta?.["progressToken"] ?? undefined;
  if (token !== undefined && !isId(token)) return { problem: '"progressToken" must be a string or a whole number' };
  if (meta === undefined) return { params: withoutNulls(rest) };
  const { [RELATED_TASK]: _unused, ...kept } = meta;
  return { params: withoutNulls({ ...rest, _meta: kept }) };
}

/** A key of `_meta` that this server does not use, and for which the SDK would drop a message without an answer if its value is malformed. */
const RELATED_TASK = "io.modelcontextprotocol/related-task";

/** Levels of objects in which `null` is looked for. */
const DEPTH = 8;

/** The object without what is `null`, in it and in the objects in it. */
function withoutNulls(fields: JsonObject, depth = DEPTH): JsonObject {
  const kept: [string, unknown][] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (key === ARGUMENTS) kept.push([key, value]);
    else if (CAPABILITIES.test(key)) kept.push([key, readCapabilities(value)]);
    else if (value !== null)
      kept.push([key, isJsonObject(value) && depth > 0 ? withoutNulls(value, depth - 1) : value]);
  }
  return Object.fromEntries(kept);
}

function readCapabilities(given: unknown): unknown {
  const capabilities = given === null || isEmptyList(given) ? {} : given;
  if (!isJsonObject(capabilities)) return capabilities;
  const kept = Object.entries(capabilities).filter(([, value]) => value !== null && value !== false);
  return Object.fromEntries(kept.map(([key, value]) => [key, readCapability(value)]));
}

function readCapability(value: unknown): unknown {
  if (value === true || isEmptyList(value)) return {};
  return isJsonObject(value) ? withoutNulls(value) : value;
}

/** The object that was sent, whole or as a JSON text; `undefined` if there is none; anything else unchanged. */
function objectIn(given: unknown): unknown {
  if (given === null || given === undefined || given === "" || isEmptyList(given)) return undefined;
  if (typeof given !== "string") return given;
  try {
    const value: unknown = JSON.parse(given);
    return value === null ? undefined : value;
  } catch {
    return given;
  }
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** What a line of JSON is: a message, an invalid message with its error answer, or a stray answer. */
type SentMessage =
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "bad"; readonly answer: Response }
  /** An answer without a request, which can only be logged. */
  | { readonly kind: "stray"; readonly error: Error };

const ONE_OBJECT = "Send one JSON-RPC 2.0 object on a line";

export function parseError(why: string): Response {
  return errorResponse(null, PARSE_ERROR, `Parse error: the line is not JSON (${why}). ${ONE_OBJECT}.`);
}

export function invalidRequest(id: MessageId | null, problem: string): Response {
  return errorResponse(id, INVALID_REQUEST, `Invalid request: ${problem}`);
}

/** Reads a JSON-RPC message as hosts send them, and makes it one that the SDK accepts. */
export function readMessage(sent: unknown): SentMessage {
  const value = isJsonObject(sent) ? withoutNullParts(sent) : sent;
  if (Array.isArray(value))
    return bad(null, INVALID_REQUEST, `Invalid request: batches are not supported. ${ONE_OBJECT}.`);
  if (!isJsonObject(value)) return bad(null, INVALID_REQUEST, `Invalid request: not an object. ${ONE_OBJECT}.`);
  const id = answerableId(value);
  if (value["jsonrpc"] !== "2.0") return bad(id, INVALID_REQUEST, 'Invalid request: "jsonrpc" must be "2.0".');
  return "method" in value ? readCall(value, id) : readResponse(value, id);
}

function readCall(value: JsonObject, id: MessageId | null): SentMessage {
  const { method } = value;
  if (typeof method !== "string") return bad(id, INVALID_REQUEST, 'Invalid request: "method" must be a string.');
  // A notification has no id, which some hosts write as null.
  if ("id" in value && id === null && !(value["id"] === null && method.startsWith("notifications/")))
    return bad(null, INVALID_REQUEST, 'Invalid request: "id" must be a string or a whole number.');
  const read = readParams(value["params"]);
  if ("problem" in read) return bad(id, INVALID_PARAMS, `Invalid params: ${read.problem}.`);
  const given = read.params === undefined ? {} : { params: read.params };
  return { kind: "message", message: { jsonrpc: "2.0", ...(id === null ? {} : { id }), method, ...given } };
}

/** Some hosts send all parts that a message can have, with `null` for those that it lacks. */
function withoutNullParts(value: JsonObject): JsonObject {
  const { method, error, result, ...rest } = value;
  const isCall = typeof method === "string";
  const isAnswer = !isCall && "id" in value;
  return {
    ...rest,
    ...(method === null || method === undefined ? {} : { method }),
    ...(error === undefined || (error === null && (isCall || "result" in value)) ? {} : { error }),
    ...(result === undefined || (result === null && (isCall || (isAnswer && isJsonObject(error)))) ? {} : { result }),
  };
}

/** Reads an answer. A malformed one becomes an error, so that its request still ends. */
function readResponse(value: JsonObject, id: MessageId | null): SentMessage {
  const { id: answered, result, error } = value;
  if (!("result" in value || "error" in value))
    return bad(id, INVALID_REQUEST, "Invalid request: neither a request nor a response.");
  if (!isId(answered)) return { kind: "stray", error: new Error(`received a response without an id: ${shown(value)}`) };
  if (isJsonObject(result)) {
    const { _meta: _unused, ...kept } = result;
    return { kind: "message", message: { jsonrpc: "2.0", id: answered, result: withoutNulls(kept) } };
  }
  return { kind: "message", message: errorResponse(answered, ...errorParts(error)) };
}

function errorParts(error: unknown): [code: number, message: string] {
  const { code, message } = isJsonObject(error) ? error : {};
  return [
    typeof code === "number" && Number.isSafeInteger(code) ? code : INVALID_REQUEST,
    typeof message === "string" ? message : "the answer was malformed",
  ];
}

function bad(id: MessageId | null, code: number, message: string): SentMessage {
  return { kind: "bad", answer: errorResponse(id, code, message) };
}

/** Returns the id for an error about this object. An answer's id is not used, because it refers to the server's own request. */
function answerableId(value: JsonObject): MessageId | null {
  if ("result" in value || "error" in value) return null;
  return isId(value["id"]) ? value["id"] : null;
}

/** The request of a client of revision 2026-07-28 that wants to be told of changes. */
export const LISTEN = "subscriptions/listen";
