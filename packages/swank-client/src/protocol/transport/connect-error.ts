import { SwankError, type SwankErrorCode } from "../../base/errors.js";
import { listenForm } from "../../base/listen-form.js";
import { hostAndPort } from "./host.js";

/** The error codes of this package for the operating system's. */
const CODES: ReadonlyMap<string, SwankErrorCode> = new Map([
  ["ECONNREFUSED", "CONNECTION_REFUSED"],
  ["ENOTFOUND", "HOST_NOT_FOUND"],
  ["EAI_AGAIN", "HOST_NOT_FOUND"],
  ["EAI_NODATA", "HOST_NOT_FOUND"],
  ["EAI_NONAME", "HOST_NOT_FOUND"],
  ["EAI_FAIL", "HOST_NOT_FOUND"],
  ["EHOSTUNREACH", "HOST_UNREACHABLE"],
  ["ENETUNREACH", "HOST_UNREACHABLE"],
  ["EHOSTDOWN", "HOST_UNREACHABLE"],
  ["ENETDOWN", "HOST_UNREACHABLE"],
  ["EADDRNOTAVAIL", "HOST_UNREACHABLE"],
  ["ETIMEDOUT", "CONNECT_TIMEOUT"],
]);

/** The error for a connection that could not be opened. */
export function connectError(cause: Error, host: string, port: number): SwankError {
  const systemCode = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  const code = CODES.get(systemCode) ?? "CONNECT_FAILED";
  const remedy = code === "CONNECTION_REFUSED" ? refusedRemedy(port) : undefined;
  const where = hostAndPort(host, port);
  return new SwankError(code, `Cannot connect to ${where}: ${explain(code, systemCode, cause)}`, { cause, remedy });
}

function explain(code: SwankErrorCode, systemCode: string, cause: Error): string {
  switch (code) {
    case "CONNECTION_REFUSED":
      return "nothing listens there. A Swank without :dont-close t stops listening as soon as one client, such as Emacs, is connected.";
    case "HOST_NOT_FOUND":
      return `the name does not resolve (${systemCode}).`;
    case "HOST_UNREACHABLE":
      return `there is no route to the host (${systemCode}).`;
    case "CONNECT_TIMEOUT":
      return "the host does not answer.";
    default:
      return cause.message || systemCode;
  }
}

function refusedRemedy(port: number): string {
  return `Evaluate ${listenForm(port)} in the image; its other connections are not affected.`;
}
