import * as z from "zod";
import { defineStopTool } from "../../calls/define-stop-tool.js";
import { frameInput, threadInput } from "../../calls/stop-inputs.js";
import { frameLocalsData, placeData } from "../../format/stop-data.js";
import { jsonAnswer } from "../../text/tool-answer.js";

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
