import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { Refusal } from "../../refusals/refusal.js";
import { jsonAnswer } from "../../text/tool-answer.js";

export const breakpointRemove = defineTool({
  name: "breakpoint_remove",
  family: "breakpoints",
  effect: "removes-breakpoint",
  title: "Remove breakpoint",
  description: "Remove a breakpoint.",
  input: () => z.strictObject({ id: z.int().describe("Breakpoint id") }),
  output: () => z.looseObject({ removed: z.number().optional() }),
  async run({ id }, { session, currentSession, signal }) {
    if ((await currentSession()) === undefined)
      throw new Refusal("NO_SUCH_BREAKPOINT", `There is no breakpoint ${id}.`);
    const { client } = await session();
    await client.breakpoints.remove(id, { signal });
    return jsonAnswer({ removed: id });
  },
});
