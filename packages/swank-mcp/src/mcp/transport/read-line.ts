import { shown } from "../../text/shown.js";
import type { Line } from "./line-splitter.js";
import {
  errorResponse,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isId,
  type Message,
  type MessageId,
  PARSE_ERROR,
  type Response,
} from "./message.js";
import { type Fields, isFields, readParams, withoutNulls } from "./sent-params.js";

/** The content of a line: a message, nothing, an invalid message with its error answer, or a stray answer. */
export type LineContent =
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "blank" }
  | { readonly kind: "bad"; readonly answer: Response; readonly isJson: boolean }
  /** An answer without a request, which can only be logged. */
  | { readonly kind: "stray"; readonly error: Error };

const ONE_OBJECT = "Send one JSON-RPC 2.0 object on a line";

/**
 * Reads a line as a JSON-RPC message.
 *
 * @param maxSize - Maximum size of a line in bytes, for the error about a longer line.
 */
export function readLine(line: Line, maxSize: number): LineContent {
  if (line.kind === "too-long") return tooLong(line.outline.read(), line.size, maxSize);
  const text = line.bytes.toString();
  if (text.trim() === "") return { kind: "blank" };
  try {
    return readMessage(JSON.parse(text));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const answer = errorResponse(null, PARSE_ERROR, `Parse error: the line is not JSON (${why}). ${ONE_OBJECT}.`);
    return { kind: "bad", answer, isJson: false };
  }
}

function tooLong(outline: unknown, size: number, maxSize: number): LineContent {
  const id = isFields(outline) ? answerableId(outline) : null;
  const what = `Invalid request: the message has ${size} bytes; the limit is ${maxSize}.`;
  return bad(id, INVALID_REQUEST, `${what} Put large code or data into a file, and send code that loads it.`);
}

function readMessage(sent: unknown): LineContent {
  const value = isFields(sent) ? withoutNullParts(sent) : sent;
  if (Array.isArray(value))
    return bad(null, INVALID_REQUEST, `Invalid request: batches are not supported. ${ONE_OBJECT}.`);
  if (!isFields(value)) return bad(null, INVALID_REQUEST, `Invalid request: not an object. ${ONE_OBJECT}.`);
  const id = answerableId(value);
  if (value["jsonrpc"] !== "2.0") return bad(id, INVALID_REQUEST, 'Invalid request: "jsonrpc" must be "2.0".');
  return "method" in value ? readCall(value, id) : readResponse(value, id);
}

function readCall(value: Fields, id: MessageId | null): LineContent {
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
function withoutNullParts(value: Fields): Fields {
  const { method, error, result, ...rest } = value;
  const isCall = typeof method === "string";
  const isAnswer = !isCall && "id" in value;
  return {
    ...rest,
    ...(method === null || method === undefined ? {} : { method }),
    ...(error === undefined || (error === null && (isCall || "result" in value)) ? {} : { error }),
    ...(result === undefined || (result === null && (isCall || (isAnswer && isFields(error)))) ? {} : { result }),
  };
}

/** Reads an answer. A malformed one becomes an error, so that its request still ends. */
function readResponse(value: Fields, id: MessageId | null): LineContent {
  const { id: answered, result, error } = value;
  if (!("result" in value || "error" in value))
    return bad(id, INVALID_REQUEST, "Invalid request: neither a request nor a response.");
  if (!isId(answered)) return { kind: "stray", error: new Error(`received a response without an id: ${shown(value)}`) };
  if (isFields(result))
    return { kind: "message", message: { jsonrpc: "2.0", id: answered, result: withoutNulls(result) } };
  return { kind: "message", message: errorResponse(answered, ...errorParts(error)) };
}

function errorParts(error: unknown): [code: number, message: string] {
  const { code, message } = isFields(error) ? error : {};
  return [
    typeof code === "number" && Number.isInteger(code) ? code : INVALID_REQUEST,
    typeof message === "string" ? message : "the answer was malformed",
  ];
}

function bad(id: MessageId | null, code: number, message: string): LineContent {
  return { kind: "bad", answer: errorResponse(id, code, message), isJson: true };
}

/** Returns the id for an error about this object. An answer's id is not used, because it refers to the server's own request. */
function answerableId(value: Fields): MessageId | null {
  if ("result" in value || "error" in value) return null;
  return isId(value["id"]) ? value["id"] : null;
}
