import type { LiveStop } from "../conclusion.js";
import type { Binding, ErrorSnapshot } from "../lisp-port.js";
import { cutCall, cutName, more, oneLine } from "./cut.js";
import { firstUserFrame } from "./frames.js";
import { restartLines } from "./restarts.js";

/** Most locals that the block shows: it is to be read at a glance. */
const MAX_LOCALS = 10;
/** Most locals that a snapshot keeps: of a frame with so many, their number is not known. */
const KEPT_LOCALS = 20;
const MANY_MORE = "... more locals: debugger_frame_locals";
const MAX_LOCAL = 120;
const MAX_CALL = 80;

/** The second block of a report: the stop that is still there, in a few lines. */
export function liveStopText(stop: LiveStop, error: ErrorSnapshot): string {
  return [
    `Stopped, nothing unwound: thread ${stop.thread}/${stop.level}. Other evaluations go on meanwhile.`,
    "Restarts:",
    ...restartLines(error.restarts),
    ...localLines(stop.locals, error),
  ].join("\n");
}

function localLines(locals: readonly Binding[], error: ErrorSnapshot): string[] {
  const frame = firstUserFrame(error);
  if (frame === undefined || locals.length === 0) return [];
  const left = locals.length - MAX_LOCALS;
  return [
    `Locals of frame ${frame.index}, ${cutCall(frame.call, MAX_CALL)}:`,
    ...locals.slice(0, MAX_LOCALS).map((local) => `  ${cutName(local.name)} = ${oneLine(local.value, MAX_LOCAL)}`),
    ...(left > 0 ? [`  ${locals.length < KEPT_LOCALS ? more(left, "local") : MANY_MORE}`] : []),
  ];
}
