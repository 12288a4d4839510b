import * as z from "zod";
import { inDebugger } from "../debugger-refusals.js";
import { Refusal } from "../refusal.js";
import { defineTool } from "../tool.js";
import { jsonAnswer } from "../tool-answer.js";

export const breakpointRemove = defineTool({
  name: "breakpoint_remove",
  title: "Remove breakpoint",
  description: "Remove a breakpoint.",
  input: z.strictObject({ id: z.int().describe("Breakpoint id") }),
  output: z.looseObject({ removed: z.number().optional() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run({ id }, { session, currentSession, signal }) {
    if ((await currentSession()) === undefined)
      throw new Refusal("NO_SUCH_BREAKPOINT", `There is no breakpoint ${id}.`);
    const { client } = await session();
    await inDebugger(() => client.breakpoints.remove(id, { signal }));
    return jsonAnswer({ removed: id });
  },
});
