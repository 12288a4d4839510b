import type { LispSession } from "swank-mcp";
import { snapshot, stopData } from "./mcp-outcomes.js";

export type DebuggedStop = LispSession["client"]["stops"][number];

/** Returns a stop with only a thread, a level and the given parts. All other methods fail. */
export function debuggedStop(thread: number, level: number, parts: Partial<DebuggedStop> = {}): DebuggedStop {
  const condition = parts.condition ?? snapshot();
  const unexpected = (what: string) => () => Promise.reject(new Error(`${what} was not expected`));
  return {
    data: stopData(thread, level, { condition }),
    thread,
    level,
    isLive: true,
    reason: "error",
    condition,
    ended: new AbortController().signal,
    restarts: condition.restarts,
    continuation: condition.restarts.find(({ name }) => name === "CONTINUE"),
    evaluation: undefined,
    owner: undefined,
    open: unexpected("open"),
    frames: unexpected("frames"),
    frameLocals: unexpected("frameLocals"),
    evaluateInFrame: unexpected("evaluateInFrame"),
    invokeRestart: unexpected("invokeRestart"),
    restartFrame: unexpected("restartFrame"),
    returnFromFrame: unexpected("returnFromFrame"),
    continue: unexpected("continue"),
    step: unexpected("step"),
    abort: unexpected("abort"),
    ...parts,
  };
}
