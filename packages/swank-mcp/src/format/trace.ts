import type { RecordedCall, RecordedCondition, RecordedThread, Trace, TraceCode } from "../image/lisp-port.js";
import { cutName, cutText, more, oneLine } from "../text/cut.js";
import type { JsonObject, ToolAnswer } from "../text/tool-answer.js";
import { countText, timeText } from "./quantities.js";

/** Key of a result's `_meta` under which programs find the calls as data. */
const TRACE_META = "swank-mcp/trace";

/** Most rows in the text. */
const MOST_ROWS = 250;
const MAX_TEXT = 300;
const MAX_VALUE = 500;
/** Deeper calls are indented no further. */
const MAX_INDENT = 40;

/** What was known before the trace. */
type Prepared = Pick<TraceCode, "count" | "missed">;

/** The answer of trace-calls. */
export function traceAnswer(trace: Trace, prepared: Prepared): ToolAnswer {
  const lines = [heading(trace, prepared), ...trace.values.map((value) => `=> ${oneLine(value, MAX_VALUE)}`)];
  let room = MOST_ROWS;
  for (const thread of trace.threads) {
    lines.push("", ...threadLines(thread, room));
    room = Math.max(0, room - thread.rows.length);
  }
  const told = remarks(trace, prepared);
  if (told.length > 0) lines.push("", ...told);
  return { blocks: [cutText(lines.join("\n"))], isError: trace.end === "failed", meta: { [TRACE_META]: data(trace) } };
}

function heading({ calls, duration, looking, switching }: Trace, { count }: Prepared): string {
  const what = count === 1 ? "1 function" : `${countText(count)} functions`;
  const number = calls === 0 ? "No call" : calls === 1 ? "1 call" : `${countText(calls)} calls`;
  const cost = `Recording took ${timeText(looking)} of it, and switching on and off ${timeText(switching)}.`;
  return `${number} of ${what} in ${timeText(duration)}. ${cost}`;
}

function threadLines({ id, name, isOwn, rows, omitted }: RecordedThread, room: number): string[] {
  const shown = rows.slice(0, room);
  const left = omitted + rows.length - shown.length;
  const title = `Thread ${id}${name === "" ? "" : ` ${cutName(name)}`}${isOwn ? ", the code" : ""}:`;
  return [title, ...shown.map(rowText), ...(left > 0 ? [`${more(left, "row")}. Trace fewer functions.`] : [])];
}

function rowText(row: RecordedCall | RecordedCondition): string {
  const indent = "  ".repeat(Math.min(row.depth, MAX_INDENT));
  return indent + (row.kind === "call" ? callText(row) : conditionText(row));
}

function callText({ text, values, exit, count, left, total, self }: RecordedCall): string {
  const times = count === 1 ? "" : ` x ${countText(count)}`;
  const own = self < total ? `, own ${timeText(self)}` : "";
  return `${oneLine(text, MAX_TEXT)}${times}${endText({ values, exit, count, left })}  ${timeText(total)}${own}`;
}

function endText({ values, exit, count, left }: Pick<RecordedCall, "values" | "exit" | "count" | "left">): string {
  if (exit === "open") return " ... not ended";
  if (values !== undefined && left === 0) return ` => ${oneLine(values, MAX_TEXT)}`;
  if (left === 0) return "";
  return left === count ? " left without a value" : `, ${countText(left)} of them left without a value`;
}

function conditionText({ type, message, clause, handler, count }: RecordedCondition): string {
  const times = count === 1 ? "" : ` x ${countText(count)}`;
  const report = message === undefined ? "" : `: ${oneLine(message, MAX_TEXT)}`;
  const taker =
    clause === undefined && handler === undefined
      ? "no handler took it"
      : `handled${clause === undefined ? "" : ` as ${cutName(clause)}`}${handler === undefined ? "" : ` in ${cutName(handler)}`}`;
  return `! ${cutName(type)}${times}${report} (${taker})`;
}

function remarks({ end, limit, failure }: Trace, { missed }: Prepared): string[] {
  return [
    ...(end === "limit"
      ? [`The trace ended at its limit of ${countText(limit)} calls. A condition records fewer.`]
      : []),
    ...(end === "stopped" ? ["The trace ended when the code stopped."] : []),
    ...(failure === undefined ? [] : [`An error in the condition ended the trace: ${oneLine(failure, MAX_TEXT)}`]),
    ...missed.map((text) => cutName(text, MAX_TEXT)),
  ];
}

function data({ threads, values, ...facts }: Trace): JsonObject {
  return {
    ...facts,
    values: [...values],
    threads: threads.map(({ rows, ...thread }) => ({ ...thread, rows: rows.map((row) => ({ ...row })) })),
  };
}
