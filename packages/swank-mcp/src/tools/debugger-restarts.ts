import * as z from "zod";
import { restartsData } from "../format/restarts.js";
import { placeData } from "../format/stop-data.js";
import { findStop } from "../stop-address.js";
import { defineTool } from "../tool.js";
import { jsonAnswer } from "../tool-answer.js";
import { threadInput } from "./stop-inputs.js";

export const debuggerRestarts = defineTool({
  name: "debugger_restarts",
  title: "Restarts",
  description: "List the restarts of a stopped thread, innermost first.",
  input: z.strictObject({ thread: threadInput }),
  output: z.looseObject({ restarts: z.array(z.looseObject({})).optional() }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run({ thread }, context) {
    const { stop } = await findStop(thread, context);
    return jsonAnswer({ ...restartsData(stop.restarts), ...placeData(stop) });
  },
});
