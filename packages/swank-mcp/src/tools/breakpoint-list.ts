import * as z from "zod";
import { breakpointListData } from "../format/stop-data.js";
import { defineTool } from "../tool.js";
import { jsonAnswer } from "../tool-answer.js";

export const breakpointList = defineTool({
  name: "breakpoint_list",
  title: "List breakpoints",
  description: "List all breakpoints of this session.",
  input: z.strictObject({}),
  output: z.looseObject({ breakpoints: z.array(z.looseObject({})).optional() }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run(_, { session, currentSession, signal }) {
    // Where there is no image yet there are no breakpoints.
    if ((await currentSession()) === undefined) return jsonAnswer({ breakpoints: [] });
    const { client } = await session();
    return jsonAnswer(breakpointListData(await client.breakpoints.list({ signal })));
  },
});
