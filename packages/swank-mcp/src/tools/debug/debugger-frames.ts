import * as z from "zod";
import { defineStopTool } from "../../calls/define-stop-tool.js";
import { threadInput } from "../../calls/stop-inputs.js";
import { framePageData, placeData } from "../../format/stop-data.js";
import { Refusal } from "../../refusals/refusal.js";
import { jsonAnswer } from "../../text/tool-answer.js";

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
