import type { ErrorSnapshot, LocalBinding, StopData } from "../image/lisp-port.js";
import { cutCall, cutName, more, oneLine } from "../text/cut.js";
import { EVERY_TOOL, type ToolGuide } from "../text/tool-guide.js";
import { firstUserFrame } from "./frames.js";
import { restartLines } from "./restarts.js";

/** Most locals that the block shows, to keep it short. */
const MAX_LOCALS = 10;
/** Most locals that a snapshot keeps. A frame with this many may have more. */
const KEPT_LOCALS = 20;
const MAX_LOCAL = 120;
const MAX_CALL = 80;

/** The second block of a report: the live stop in a few lines. */
export function liveStopText(
  stop: Pick<StopData, "thread" | "level" | "locals">,
  error: ErrorSnapshot,
  guide: ToolGuide = EVERY_TOOL,
): string {
  return [
    `Stopped, nothing unwound: thread ${stop.thread}/${stop.level}. Other evaluations can still run.`,
    ...(guide.offers("debugger_invoke_restart") ? ["Restarts:", ...restartLines(error.restarts)] : []),
    ...localLines(stop.locals, error, guide),
  ].join("\n");
}

function localLines(locals: readonly LocalBinding[], error: ErrorSnapshot, guide: ToolGuide): string[] {
  const frame = firstUserFrame(error);
  if (frame === undefined || locals.length === 0) return [];
  const left = locals.length - MAX_LOCALS;
  return [
    `Locals of frame ${frame.index}, ${cutCall(frame.call, MAX_CALL)}:`,
    ...locals.slice(0, MAX_LOCALS).map(localLine),
    ...(left > 0 ? [`  ${locals.length < KEPT_LOCALS ? more(left, "local") : manyMore(guide)}`] : []),
  ];
}

function localLine({ name, value, marks }: LocalBinding): string {
  const note = marks.includes("shadowed") ? ` (${marks.join(", ")})` : "";
  return `  ${cutName(name)} = ${oneLine(value, MAX_LOCAL)}${note}`;
}

function manyMore(guide: ToolGuide): string {
  if (!guide.offers("debugger_frame_locals")) return "... more locals";
  return `... more locals: ${guide.nameOf("debugger_frame_locals")}`;
}
