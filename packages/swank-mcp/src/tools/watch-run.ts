import type { types } from "swank-client";
import type { RunCode } from "swank-client/internal";
import type { ToolAnswer } from "../base/answer.js";
import { answerPresented } from "../call/evaluate.js";
import type { ToolContext } from "../call/tool.js";
import type { Presenter } from "../session/agent.js";
import type { ApprovalRequest } from "../session/approval-prompt.js";
import type { LispSession } from "../session/image.js";

/** Seconds that an evaluation has besides those for which it watches the program. */
export const WATCH_MARGIN = 60;

/**
 * Evaluates code that profiles or traces, and answers with what it has found, also if the code has stopped.
 *
 * @param seconds - Time that it has. Default: as configured.
 * @param policy - How the code is compiled.
 */
export async function answerRun<Result>(
  { code, result, progress }: RunCode<Result>,
  seconds: number | undefined,
  context: ToolContext,
  answer: (found: Result) => ToolAnswer,
  policy: types.EvaluateOptions["policy"] = "keep",
): Promise<ToolAnswer> {
  const session = await context.session();
  let isTold = false;
  const presenter: Presenter = {
    answer: (value) => answer(result(value)),
    reportFirst: true,
    async unfinished() {
      const found = isTold ? undefined : await progress().catch(() => undefined);
      if (found === undefined) return { blocks: [] };
      // A stop ends the run: later stops of the same evaluation have nothing to add.
      isTold = true;
      return answer(found);
    },
  };
  const { onError } = context.config;
  return answerPresented({ session, code, valuesAs: "data", onError, policy }, presenter, context, seconds);
}

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
  source: types.TraceSource,
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
