import * as z from "zod";
import { inDebugger } from "../debugger-refusals.js";
import { frameListData, placeData } from "../format/stop-data.js";
import { Refusal } from "../refusal.js";
import { findStop } from "../stop-address.js";
import { defineTool } from "../tool.js";
import { jsonAnswer } from "../tool-answer.js";
import { threadInput } from "./stop-inputs.js";

const PAGE = 20;
/** Most frames in one answer; the rest is another call's. */
const MAX_FRAMES = 100;

export const debuggerFrames = defineTool({
  name: "debugger_frames",
  title: "Stack frames",
  description:
    "Get current debugger stack frames of a stopped thread: function, source, variables. An object_id is used in code as (swank-objects:ref 42) while the stop lasts.",
  input: z.strictObject({
    thread: threadInput,
    start: z.int().default(0).describe("Start frame index"),
    end: z.int().optional().meta({ description: "End frame index", default: PAGE }),
  }),
  output: z.looseObject({
    frames: z.array(z.looseObject({})).optional(),
    total_frames: z.number().optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run({ thread, start, end = start < PAGE ? PAGE : start + PAGE }, context) {
    const { stop } = await findStop(thread, context);
    checkRange(start, end, stop.condition.totalFrames);
    const { frames, totalFrames } = await inDebugger(() => stop.frames(start, Math.min(end, start + MAX_FRAMES)));
    return jsonAnswer({ frames: frameListData(frames), total_frames: totalFrames, ...placeData(stop) });
  },
});

function checkRange(start: number, end: number, total: number): void {
  if (start >= 0 && start <= end && start < total) return;
  throw new Refusal("INVALID_FRAME", "Frame index out of range", {
    remedy: `There are frames 0 to ${total - 1}; start is the first to show, end the one after the last.`,
  });
}
