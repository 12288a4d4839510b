import * as z from "zod";
import { breakpointData } from "../format/stop-data.js";
import { defineTool } from "../tool.js";
import { jsonAnswer } from "../tool-answer.js";

export const breakpointList = defineTool({
  name: "breakpoint_list",
  title: "List breakpoints",
  description: "List all breakpoints of this session.",
  input: z.strictObject({}),
  output: z.looseObject({ breakpoints: z.array(z.looseObject({})).optional() }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run(_, context) {
    // Where there is no image yet there are no breakpoints.
    if ((await context.currentSession()) === undefined) return jsonAnswer({ breakpoints: [] });
    const { client } = await context.session();
    return jsonAnswer({ breakpoints: (await client.breakpoints.list()).map(breakpointData) });
  },
});
