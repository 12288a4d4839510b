import * as z from "zod";
import type { Config } from "../base/config.js";
import { Refusal } from "../base/refusals.js";
import { idOrCode, inspectionRequest, inspectValueOf } from "../call/evaluate.js";
import { findStop } from "../call/stop-tool.js";
import { defineTool, threadText } from "../call/tool.js";
import { objectAnswer } from "../report/object.js";
import { cut } from "../text/cut.js";

const MAX_DEPTH = 5;

export const inspectObject = defineTool({
  name: "inspect-object",
  family: "runtime",
  needs: "inspect",
  effect: "evaluates",
  runsCode: ({ object }) => typeof idOrCode(object) !== "number",
  title: "Inspect object",
  description:
    "Show an object's kind and parts (slots, elements, entries, closed-over variables) with values, expressions and ids.",
  input: ({ readOnly }: Config) =>
    z.strictObject({
      object: z.union([z.int(), z.string()]).describe(readOnly ? "Id" : "Id, or code to evaluate"),
      part: z.union([z.int(), z.string()]).optional().describe("A part's index, or path (3/0)"),
      start: z.int().min(0).optional().describe("First part (default 0)"),
      depth: z.int().min(1).max(MAX_DEPTH).optional().describe("Levels (default 1)"),
      frame: z.int().optional().describe("Frame to evaluate in"),
      thread: threadText.optional(),
    }),
  async plan({ object, part, start, depth, frame, thread }, context) {
    const path = pathOf(part);
    const target = idOrCode(object);
    const options = { path, start, depth, signal: context.signal };
    if (typeof target === "number") {
      if (frame !== undefined || thread !== undefined)
        throw misused("An id needs no frame and no thread", "Leave them out, or give code.");
      const act = async () => {
        const { client } = await context.session();
        return objectAnswer(await client.program.inspectObject(target, options), start);
      };
      return { request: undefined, act };
    }
    if (frame === undefined && thread !== undefined)
      throw misused("A thread needs a frame", "Give the frame in which to evaluate the code.");
    const found = frame === undefined ? undefined : { frame, ...(await findStop(thread ?? "auto", context)) };
    const request = found && (await inspectionRequest(target, found));
    return { request, act: () => inspectValueOf(target, found, options, context) };
  },
});

function pathOf(part: number | string | undefined): readonly number[] {
  if (part === undefined) return [];
  if (typeof part === "number") {
    if (part < 0) throw misused(`${part} is no index`, "Give the index of a part, from 0.");
    return [part];
  }
  if (!/^\s*\d{1,15}(?:\s*\/\s*\d{1,15})*\s*$/.test(part))
    throw misused(
      `${JSON.stringify(cut(part, 80, ""))} is no path`,
      "Give the index of a part, or indexes with / between them, such as 3/0.",
    );
  return part.split("/").map(Number);
}

function misused(problem: string, remedy: string): Refusal {
  return new Refusal("INVALID_ARGUMENTS", `inspect-object: ${problem}.`, { remedy });
}
