import { INTERNAL_ERROR, INVALID_PARAMS } from "./transport/message.js";

/** The error of a JSON-RPC response. */
interface RequestError {
  readonly code: number;
  readonly message: string;
}

/**
 * Why a `server/discover` that names no protocol revision is refused; the SDK would say that there is no such method.
 *
 * @param revisionKey - The key of the revision in `_meta`.
 */
export function discoveryError(
  method: string,
  params: object | undefined,
  revisionKey: string,
): RequestError | undefined {
  if (method !== "server/discover") return undefined;
  const meta = params !== undefined && "_meta" in params ? params._meta : undefined;
  if (typeof meta === "object" && meta !== null && revisionKey in meta) return undefined;
  const problem = `server/discover needs the key "${revisionKey}" in params._meta`;
  return {
    code: INVALID_PARAMS,
    message: `Invalid params: ${problem}. Clients of revisions up to 2025-11-25 begin with initialize.`,
  };
}

/**
 * The same error, or a clear one if it is the SDK's for parameters of a wrong shape: an internal error whose message is JSON, with the issues that
 * a schema has found.
 */
export function clearError<Given extends RequestError>(error: Given): Given | RequestError {
  const problems = error.code === INTERNAL_ERROR ? problemsIn(error.message) : [];
  if (problems.length === 0) return error;
  return { code: INVALID_PARAMS, message: `Invalid params: ${problems.join("; ")}.` };
}

function problemsIn(text: string): readonly string[] {
  if (!text.startsWith("[")) return [];
  try {
    const issues: unknown = JSON.parse(text);
    return Array.isArray(issues) ? issues.flatMap(problemOf) : [];
  } catch {
    return [];
  }
}

function problemOf(issue: unknown): readonly string[] {
  if (typeof issue !== "object" || issue === null || !("path" in issue) || !("message" in issue)) return [];
  const place = Array.isArray(issue.path) ? issue.path.join(".") : "params";
  return [`${place}: ${String(issue.message).replace(/^Invalid input: /, "")}`];
}
