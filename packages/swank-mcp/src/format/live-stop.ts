import type { ErrorSnapshot, FrameSummary, LocalBinding, StopData } from "../image/lisp-port.js";
import { cutCall, cutName, more, oneLine } from "../text/cut.js";
import { EVERY_TOOL, type ToolGuide } from "../text/tool-guide.js";
import { localsBesideCall } from "./call-arguments.js";
import { userFrames } from "./frames.js";
import { restartLines } from "./restarts.js";

/** Most locals that the block shows, to keep it short. */
const MAX_LOCALS = 10;
/** Most locals that a snapshot keeps. A frame with this many may have more. */
const KEPT_LOCALS = 20;
const MAX_LOCAL = 120;
const MAX_CALL = 80;
/** Most locals of the caller, and characters of each: they are shown only if they are short. */
const MAX_OF_CALLER = 5;
const MAX_IN_CALLER = 60;

/** The second block of a report: the live stop in a few lines. */
export function liveStopText(
  stop: Pick<StopData, "thread" | "level" | "locals" | "callerLocals">,
  error: ErrorSnapshot,
  guide: ToolGuide = EVERY_TOOL,
): string {
  return [
    `Stopped, nothing unwound: thread ${stop.thread}/${stop.level}. Other evaluations can still run.`,
    ...(guide.offers("debugger_invoke_restart") ? ["Restarts:", ...restartLines(error.restarts)] : []),
    ...localLines(stop, userFrames(error), guide),
  ].join("\n");
}

function localLines(
  { locals, callerLocals = [] }: Pick<StopData, "locals" | "callerLocals">,
  [frame, caller]: readonly FrameSummary[],
  guide: ToolGuide,
): string[] {
  return [
    ...(frame === undefined || locals.length === 0 ? [] : [localsHeading(frame), ...ownLines(locals, guide)]),
    ...(caller === undefined ? [] : callerLines(callerLocals, caller)),
  ];
}

function localsHeading({ index, call }: FrameSummary): string {
  return `Locals of frame ${index}, ${cutCall(call, MAX_CALL)}:`;
}

/** The locals that the caller's call does not show, if they are short. */
function callerLines(locals: readonly LocalBinding[], caller: FrameSummary): string[] {
  const reference = `#<see frame ${caller.index}>`;
  const unsaid = localsBesideCall(locals, caller.call).filter(({ value }) => value !== reference);
  const areShort = unsaid.length <= MAX_OF_CALLER && unsaid.every(({ value }) => value.length <= MAX_IN_CALLER);
  return areShort && unsaid.length > 0 ? [localsHeading(caller), ...unsaid.map(localLine)] : [];
}

function ownLines(locals: readonly LocalBinding[], guide: ToolGuide): string[] {
  const left = locals.length - MAX_LOCALS;
  return [
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
