import type { types } from "swank-client";
import { type RunCode, type TraceCode, traceCode } from "swank-client/internal";
import * as z from "zod";
import { answerWith, type ToolAnswer } from "../base/answer.js";
import { misused } from "../base/refusals.js";
import { answerPresented } from "../call/evaluate.js";
import { defineTool, secondsUpTo, type ToolContext, timeoutInput } from "../call/tool.js";
import type { Presenter } from "../session/agent.js";
import type { ApprovalRequest } from "../session/approval-prompt.js";
import type { LispSession } from "../session/image.js";
import { countText, cutName, cutText, firstOf, more, oneLine, plural, timeText } from "../text/cut.js";

/** Seconds that an evaluation has besides those for which it watches the program. */
export const WATCH_MARGIN = 60;

/** Evaluates code that profiles or traces, and answers with what it has found, also if the code has stopped. */
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

/** The request to the user; none is needed unless other threads of an attached image run slower while their calls are recorded. */
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

export const TRACE_META = "swank-mcp/trace";

const MOST_ROWS = 250;

const MAX_TEXT = 300;

const MAX_VALUE = 500;

/** Most methods named of a call in each role. */
const MAX_METHODS = 8;

/** Deeper calls are indented no further. */
const MAX_INDENT = 40;

type Prepared = Pick<TraceCode, "count" | "missed">;

function traceAnswer(trace: types.Trace, prepared: Prepared): ToolAnswer {
  const { failure } = trace;
  const lines = [
    ...(failure === undefined ? [] : [`An error in the condition ended the trace: ${oneLine(failure, MAX_TEXT)}`]),
    heading(trace, prepared),
    ...trace.values.map((value) => `=> ${oneLine(value, MAX_VALUE)}`),
  ];
  let room = MOST_ROWS;
  for (const thread of trace.threads) {
    lines.push("", ...threadLines(thread, room));
    room = Math.max(0, room - thread.rows.length);
  }
  const told = remarks(trace, prepared);
  if (told.length > 0) lines.push("", ...told);
  return answerWith([cutText(lines.join("\n"))], TRACE_META, trace, trace.end === "failed");
}

function heading({ calls, duration, looking, switching }: types.Trace, { count }: Prepared): string {
  const what = `${countText(count)} ${plural(count, "function")}`;
  const number = calls === 0 ? "No call" : `${countText(calls)} ${plural(calls, "call")}`;
  const cost = `Recording took ${timeText(looking)} of it, and switching on and off ${timeText(switching)}.`;
  return `${number} of ${what} in ${timeText(duration)}. ${cost}`;
}

function threadLines({ id, name, isOwn, rows, omitted }: types.RecordedThread, room: number): string[] {
  const shown = rows.slice(0, room);
  const left = omitted + rows.length - shown.length;
  const title = `Thread ${id}${name === "" ? "" : ` ${cutName(name)}`}${isOwn ? ", the code" : ""}:`;
  return [title, ...shown.map(rowText), ...(left > 0 ? [`${more(left, "row")}. Trace fewer functions.`] : [])];
}

function rowText(row: types.RecordedCall | types.RecordedCondition): string {
  const indent = "  ".repeat(Math.min(row.depth, MAX_INDENT));
  return indent + (row.kind === "call" ? callText(row) : conditionText(row));
}

function callText({ text, values, exit, count, left, total, self, methods }: types.RecordedCall): string {
  const times = count === 1 ? "" : ` x ${countText(count)}`;
  const own = self < total ? `, own ${timeText(self)}` : "";
  const end = endText({ values, exit, count, left });
  return `${oneLine(text, MAX_TEXT)}${times}${end}  ${timeText(total)}${own}${methodsText(methods)}`;
}

const METHODS = { value: "value of", ran: "ran", applicable: "applicable" } as const;

/** `; value of :AROUND (ITEM) of system audit; applicable (ITEM), (T)` */
function methodsText(methods: readonly types.CalledMethod[]): string {
  const roles = (["value", "ran", "applicable"] as const).map((wanted) => {
    const { shown, left } = firstOf(
      methods.filter(({ role }) => role === wanted),
      MAX_METHODS,
    );
    const texts = shown.map(
      ({ text, system }) => `${cutName(text)}${system === undefined ? "" : ` of system ${system}`}`,
    );
    return shown.length === 0 ? "" : `; ${METHODS[wanted]} ${texts.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
  });
  return roles.join("");
}

function endText({
  values,
  exit,
  count,
  left,
}: Pick<types.RecordedCall, "values" | "exit" | "count" | "left">): string {
  if (exit === "open") return " ... not ended";
  if (values !== undefined && left === 0) return ` => ${oneLine(values, MAX_TEXT)}`;
  if (left === 0) return "";
  return left === count ? " left without a value" : `, ${countText(left)} of them left without a value`;
}

function conditionText({ type, message, clause, handler, count }: types.RecordedCondition): string {
  const times = count === 1 ? "" : ` x ${countText(count)}`;
  const report = message === undefined ? "" : `: ${oneLine(message, MAX_TEXT)}`;
  const taker =
    clause === undefined && handler === undefined
      ? "no handler took it"
      : `handled${clause === undefined ? "" : ` as ${cutName(clause)}`}${handler === undefined ? "" : ` in ${cutName(handler)}`}`;
  return `! ${cutName(type)}${times}${report} (${taker})`;
}

function remarks({ end, limit }: types.Trace, { missed }: Prepared): string[] {
  return [
    ...(end === "limit"
      ? [`The trace ended at its limit of ${countText(limit)} calls. A condition records fewer.`]
      : []),
    ...(end === "stopped" ? ["The trace ended when the code stopped."] : []),
    // one line, however many reasons there are
    ...(missed.length === 0 ? [] : [missed.map((text) => cutName(text, MAX_TEXT)).join(" ")]),
  ];
}

export const traceCalls = defineTool({
  name: "trace-calls",
  family: "runtime",
  needs: "runtime",
  effect: "evaluates",
  title: "Trace calls",
  description:
    "See how functions are called, in code or for some seconds: a tree with arguments, values, methods, times, exits, conditions.",
  input: (config) =>
    z.strictObject({
      functions: z.array(z.string()).optional(),
      package: z.string().min(1).optional().describe("Its functions, others with methods for its classes"),
      code: z.string().min(1).optional(),
      seconds: secondsUpTo(3600).optional().describe("Instead: all threads"),
      threads: z.array(z.int()).optional(),
      condition: z.string().optional().describe("Lisp condition on the parameters"),
      limit: z.int().min(1).max(100_000).optional().describe("Calls (10000)"),
      timeout: timeoutInput(config),
    }),
  async plan({ code, seconds, timeout, ...what }, context) {
    const source = sourceOf(code, seconds);
    const session = await context.session();
    const run = () => traceCode(session.client.lisp, source, { ...what, signal: context.signal });
    const time = timeout ?? ("seconds" in source ? source.seconds + WATCH_MARGIN : undefined);
    return {
      request: watchRequest("record calls", source, what, session),
      async act() {
        const prepared = await run();
        return answerRun(prepared, time, context, (trace) => traceAnswer(trace, prepared), context.config.policy);
      },
    };
  },
});

function sourceOf(code: string | undefined, seconds: number | undefined): types.TraceSource {
  if (code !== undefined && seconds === undefined) return { code };
  if (code === undefined && seconds !== undefined) return { seconds };
  throw misused("trace-calls", "Give either code or seconds.");
}
