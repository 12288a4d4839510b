import * as z from "zod";
import { inDebugger } from "../debugger-refusals.js";
import { frameLocalsData, placeData } from "../format/stop-data.js";
import { findStop } from "../stop-address.js";
import { defineTool } from "../tool.js";
import { jsonAnswer } from "../tool-answer.js";
import { checkFrame } from "./check-frame.js";
import { frameInput, threadInput } from "./stop-inputs.js";

export const debuggerFrameLocals = defineTool({
  name: "debugger_frame_locals",
  title: "Frame variables",
  description: "Get local variables in a frame of a stopped thread.",
  input: z.strictObject({ frame: frameInput, thread: threadInput }),
  output: z.looseObject({ locals: z.array(z.looseObject({})).optional() }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run({ frame, thread }, context) {
    const { stop } = await findStop(thread, context);
    checkFrame(frame, stop);
    const found = await inDebugger(() => stop.frameLocals(frame));
    return jsonAnswer({ ...frameLocalsData(found), ...placeData(stop) });
  },
});
