import type { LispSession } from "swank-mcp";
import { snapshot, stopData } from "./mcp-outcomes.js";
import { only } from "./only.js";

export type DebuggedStop = LispSession["client"]["stops"][number];

/** Returns a stop with only a thread, a level and the given parts. All other methods fail. */
export function debuggedStop(thread: number, level: number, parts: Partial<DebuggedStop> = {}): DebuggedStop {
  const condition = parts.condition ?? snapshot();
  return only("stop", {
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
    ...parts,
  });
}
