import * as z from "zod";
import { jsonAnswer } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { defineStopTool } from "../call/stop-tool.js";
import { frameInput, threadInput } from "../call/tool.js";
import { frameLocalsData, framePageData, placeData } from "../report/data.js";
import { restartsData } from "../report/stop.js";

const PAGE = 20;

/** Most frames in one answer; another call gets the rest. */
const MAX_FRAMES = 100;

export const debuggerFrames = defineStopTool({
  name: "debugger_frames",
  family: "debug",
  effect: "reads",
  title: "Stack frames",
  description: ({ readOnly }) =>
    `Get current debugger stack frames of a stopped thread: function, source, variables.${readOnly ? "" : " While the stop lasts, code can refer to object_id 42 as (swank-objects:ref 42)."}`,
  input: () =>
    z.strictObject({
      thread: threadInput,
      start: z.int().default(0).describe("Start frame index"),
      end: z.int().optional().meta({ description: "End frame index", default: PAGE }),
      internal: z.boolean().default(false).describe("Also frames of Lisp and the server"),
    }),
  output: () =>
    z.looseObject({
      frames: z.array(z.looseObject({})).optional(),
      total_frames: z.number().optional(),
    }),
  async answer({ start, end = start < PAGE ? PAGE : start + PAGE, internal }, stop) {
    checkRange(start, end, stop.condition.totalFrames);
    const page = await stop.frames(start, Math.min(end, start + MAX_FRAMES));
    return jsonAnswer({ ...framePageData(page, stop.condition, internal), ...placeData(stop) });
  },
});

function checkRange(start: number, end: number, total: number): void {
  if (start >= 0 && start <= end && start < total) return;
  const reversed = start > end ? `start ${start} is greater than end ${end}. ` : "";
  throw new Refusal("INVALID_FRAME", "Frame index out of range", {
    remedy: `${reversed}The stack has frames 0 to ${total - 1}; start is the first frame to show, end the one after the last.`,
  });
}

export const debuggerFrameLocals = defineStopTool({
  name: "debugger_frame_locals",
  family: "debug",
  effect: "reads",
  title: "Frame variables",
  description: "Get local variables in a frame of a stopped thread.",
  input: () => z.strictObject({ frame: frameInput, thread: threadInput }),
  output: () => z.looseObject({ locals: z.array(z.looseObject({})).optional() }),
  answer: async ({ frame }, stop) =>
    jsonAnswer({ ...frameLocalsData(await stop.frameLocals(frame)), ...placeData(stop) }),
});

export const debuggerRestarts = defineStopTool({
  name: "debugger_restarts",
  family: "debug",
  effect: "reads",
  title: "Restarts",
  description: "List the restarts of a stopped thread, innermost first.",
  input: () => z.strictObject({ thread: threadInput }),
  output: () => z.looseObject({ restarts: z.array(z.looseObject({})).optional() }),
  answer: async (_, stop) => jsonAnswer({ ...restartsData(stop.restarts), ...placeData(stop) }),
});
