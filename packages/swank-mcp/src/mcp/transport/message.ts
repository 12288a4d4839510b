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

export interface Notification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: object | undefined;
}

/** The answer to a request, with either a result or an error. */
export interface Response {
  readonly jsonrpc: "2.0";
  readonly id?: MessageId | null | undefined;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Any message that a line can contain. */
export type Message = Request | Notification | Response;

/** JSON-RPC's error codes for lines that cannot be served. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;

/** JSON-RPC's error code for a method that the receiver does not have. */
export const METHOD_NOT_FOUND = -32601;

/** JSON-RPC's error code for a defect of the server. */
export const INTERNAL_ERROR = -32603;

/** Returns the answer to a line that is not a message, or to a request that cannot be served. */
export function errorResponse(id: MessageId | null, code: number, message: string): Response {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

export function isRequest(message: Message): message is Request {
  return "method" in message && "id" in message;
}

/** Whether the message answers a request. */
export function isResponse(message: Message): message is Response {
  return !("method" in message);
}

/** Returns the id of the request that a notification cancels; `undefined` for any other message. */
export function cancelledId(message: Message): unknown {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  return message.params !== undefined && "requestId" in message.params ? message.params.requestId : undefined;
}
