import type { types } from "swank-client";
import type { ToolGuide } from "../base/answer.js";
import type { DebuggedStop } from "../session/lisp-port.js";
import { cutName, cutTexts, firstOf, more } from "../text/cut.js";
import { conditionText, heading, packageLine, placeName } from "./stop.js";

/** Most stops of which everything is said, and characters of all. */
const MAX_WHOLE = 8;

const MAX_TEXT = 30_000;

/** The stopped threads with their conditions, restarts and innermost frames, as a person reads them. */
export function stopsText(stops: readonly DebuggedStop[], guide: ToolGuide): string {
  if (stops.length === 0) return "No thread is stopped.";
  const { shown, left } = firstOf([...stops].reverse(), MAX_WHOLE);
  const count = stops.length === 1 ? "1 thread is stopped." : `${stops.length} threads are stopped, the latest first.`;
  const texts = shown.map((stop) => stopText(stop, guide));
  return cutTexts([count, ...texts, ...(left > 0 ? [more(left, "stop")] : [])], MAX_TEXT).join("\n\n");
}

/** Of a stop in another client's debugger, little is known before somebody looks at it. */
function stopText(stop: DebuggedStop, guide: ToolGuide): string {
  const { condition, owner } = stop;
  const about = owner === undefined ? [conditionText(condition), ...packageLine(condition)] : [heading(condition)];
  return [stopHeading(stop), ...about, ...advice(stop, guide)].join("\n\n");
}

/** How each reason is said. */
const REASONS: Readonly<Record<types.StopReason, string>> = {
  error: "stopped with an error",
  break: "called BREAK",
  breakpoint: "reached a breakpoint",
  step: "is stepped",
  interrupt: "was interrupted",
};

function stopHeading(stop: DebuggedStop): string {
  const { reason, owner, data } = stop;
  const name = data.threadName === undefined ? "" : ` (${cutName(data.threadName)})`;
  const how = owner === undefined ? REASONS[reason] : `is stopped in ${owner.text}`;
  return `Thread ${placeName(stop)}${name} ${how}.`;
}

function advice(stop: DebuggedStop, guide: ToolGuide): readonly string[] {
  const text = guide.advise(
    `debugger_frames with thread "${placeName(stop)}" shows its frames with their variables. debugger_invoke_restart invokes a restart.`,
  );
  return text === "" ? [] : [text];
}
