import * as z from "zod";
import { EMPTY_TRANSCRIPT } from "../conclusion.js";
import { reportText } from "../format/report.js";
import type { JsonObject, ToolAnswer } from "../tool-answer.js";
import { jsonText } from "./json-text.js";

/** What evaluation in a frame answers. */
const evaluated = z.strictObject({
  values: z.array(z.string()),
  values_left_out: z.number().default(0),
  stdout: z.string(),
});

/** An answer as the console shows it: the text that an agent reads, but JSON in lines. */
export function answerText({ blocks, structured, isError }: ToolAnswer): string {
  const [first = "", ...others] = blocks;
  return [structured === undefined || isError ? first : dataText(structured), ...others].join("\n\n");
}

/** Values look the same wherever they come from. */
function dataText(structured: JsonObject): string {
  const { success, data } = evaluated.safeParse(structured);
  if (!success) return jsonText(structured);
  const { values, values_left_out: left, stdout } = data;
  const ending = { kind: "values", values, count: values.length + left } as const;
  // The tool has cut them already.
  return reportText({ transcript: { ...EMPTY_TRANSCRIPT, stdout }, ending }, Number.POSITIVE_INFINITY);
}
