import type { IdleBreakpoint } from "../image/lisp-port.js";
import { cutName, firstOf, more } from "../text/cut.js";
import type { JsonObject } from "../text/tool-answer.js";

/** Most breakpoints in a report, and in its data. */
const MAX_LINES = 5;
const MAX_LISTED = 20;
const MAX_NAME = 100;

/** Lines for breakpoints that the evaluation should have reached, with the reason. */
export function idleLines(idle: readonly IdleBreakpoint[]): string[] {
  const { shown, left } = firstOf(idle, MAX_LINES);
  return [...shown.map(idleLine), ...(left > 0 ? [`${more(left, "breakpoint")} not hit`] : [])];
}

/** The same breakpoints as data; nothing if there are none. */
export function idleData(idle: readonly IdleBreakpoint[]): JsonObject {
  if (idle.length === 0) return {};
  const shown = firstOf(idle, MAX_LISTED).shown;
  return {
    idle_breakpoints: shown.map(({ id, function: name, calls, hits }) => ({
      id,
      function: cutName(name),
      calls,
      hits,
    })),
  };
}

function idleLine({ id, function: name, ...facts }: IdleBreakpoint): string {
  return `Breakpoint ${id} on ${cutName(name, MAX_NAME)} ${idleReason(facts)}.`;
}

function idleReason({
  calls,
  callsElsewhere,
  hits,
  hitCount,
  lost,
  missed,
}: Omit<IdleBreakpoint, "id" | "function">): string {
  if (lost) return "is lost: its function was undefined or replaced";
  if (hits > 0) return `has not fired yet: ${hits} of ${hitCount} hits`;
  if (calls > 0)
    return `was not hit: its condition was false at ${calls === 1 ? "the only call" : `all ${calls} calls`}`;
  if (callsElsewhere > 0)
    return `was not hit: it was only called in threads that it does not watch (${callsElsewhere})`;
  return missed === undefined
    ? "was not hit: it was not called by name"
    : `was not hit: no call reached it. ${missed.replace(/\.$/, "")}`;
}
