import type { TraceSource } from "swank-client/types";
import type { ApprovalRequest } from "../../agent/approval-request.js";
import type { LispSession } from "../../image/lisp-session.js";

/** Whose calls are recorded or counted. */
interface Watched {
  readonly functions?: readonly string[] | undefined;
  readonly package?: string | undefined;
  readonly threads?: readonly number[] | undefined;
  readonly condition?: string | undefined;
}

/**
 * The request to the user, or `undefined` if none is needed: other threads of an attached image run slower while their calls are recorded.
 *
 * @param action - What is done with the calls: `record calls`.
 */
export function watchRequest(
  action: string,
  source: TraceSource,
  watched: Watched,
  { origin }: LispSession,
): ApprovalRequest | undefined {
  const { functions = [], package: packageName, threads, condition } = watched;
  if (origin.kind !== "attached" || ("code" in source && threads === undefined)) return undefined;
  return {
    operation: ":modify-running-code",
    action: `${action} in threads of the program`,
    particulars: [
      ["Functions", [...functions, ...(packageName === undefined ? [] : [`all of ${packageName}`])].join(", ")],
      ["Threads", threads === undefined ? "all" : threads.join(", ")],
      ...(condition === undefined ? [] : [["Condition", condition] as const]),
      ...("seconds" in source ? [["Seconds", String(source.seconds)] as const] : [["Code", source.code] as const]),
    ],
    isForeign: true,
    instead: "Give code: only its own calls are then watched.",
  };
}
