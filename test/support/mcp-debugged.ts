import type { LispSession } from "swank-mcp";
import { snapshot } from "./mcp-outcomes.js";

export type DebuggedStop = LispSession["client"]["stops"][number];

/** A stop of which nothing is known but where it is; whoever asks it anything fails. */
export function debuggedStop(thread: number, level: number, parts: Partial<DebuggedStop> = {}): DebuggedStop {
  const condition = parts.condition ?? snapshot();
  const unexpected = (what: string) => () => Promise.reject(new Error(`${what} was not expected`));
  return {
    thread,
    level,
    isLive: true,
    reason: "error",
    detail: {},
    condition,
    locals: [],
    ended: new AbortController().signal,
    restarts: condition.restarts,
    continuation: condition.restarts.find(({ name }) => name === "CONTINUE"),
    evaluation: undefined,
    owner: undefined,
    isOwn: false,
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
