import * as z from "zod";
import { defineStopTool } from "../../calls/define-stop-tool.js";
import { threadInput } from "../../calls/stop-inputs.js";
import { restartsData } from "../../format/restarts.js";
import { placeData } from "../../format/stop-data.js";
import { jsonAnswer } from "../../text/tool-answer.js";

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
