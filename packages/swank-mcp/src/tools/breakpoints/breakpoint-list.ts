import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { breakpointListData } from "../../format/stop-data.js";
import { jsonAnswer } from "../../text/tool-answer.js";

export const breakpointList = defineTool({
  name: "breakpoint_list",
  family: "breakpoints",
  effect: "reads",
  title: "List breakpoints",
  description: "List all breakpoints of this session.",
  input: () => z.strictObject({}),
  output: () => z.looseObject({ breakpoints: z.array(z.looseObject({})).optional() }),
  async run(_, { session, currentSession, signal }) {
    // Without an image there are no breakpoints.
    if ((await currentSession()) === undefined) return jsonAnswer({ breakpoints: [] });
    const { client } = await session();
    return jsonAnswer(breakpointListData(await client.breakpoints.list({ signal })));
  },
});
