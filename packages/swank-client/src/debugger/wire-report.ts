import type { StopReport } from "../runtime/decode-snapshot.js";
import type { DebugMessage } from "../wire/messages.js";

/** What Swank's own message tells of a stop: less than the runtime does, but it needs nothing loaded in the image. */
export function wireReport({ condition, restarts, frames }: DebugMessage): StopReport {
  return {
    number: undefined,
    isOwn: false,
    reason: "error",
    detail: {},
    error: {
      type: condition.type,
      class: condition.type,
      supertypes: [],
      message: condition.message,
      slots: [],
      restarts: restarts.map(({ name, description }, index) => ({ index, name, description })),
      frames: frames.map(({ index, call }) => ({ index, call, kind: "user" })),
      totalFrames: frames.length,
      timestamp: Date.now(),
    },
    locals: [],
    warnings: [],
    warningsOmitted: 0,
    package: undefined,
  };
}
