import * as z from "zod";
import { EMPTY_TRANSCRIPT } from "../evaluation/conclusion.js";
import { reportText } from "../format/report.js";
import type { JsonObject, ToolAnswer } from "../text/tool-answer.js";
import { jsonText } from "./json-text.js";

/** The answer of debugger_eval_in_frame. */
const evaluated = z.strictObject({
  values: z.array(z.string()),
  values_left_out: z.number().default(0),
  stdout: z.string(),
});

/** An answer as the console shows it: the agent's text, or JSON in lines, with the notices below it. */
export function answerText({ blocks, structured, isError }: ToolAnswer): string {
  const [, ...others] = blocks;
  if (structured === undefined || isError) return blocks.join("\n\n");
  const { notices, ...data } = structured;
  const texts = Array.isArray(notices) ? [notices.join("\n")] : [];
  return [dataText(data), ...others, ...texts].join("\n\n");
}

/** Shows values of an evaluation in a frame like those of evaluate-lisp, and any other JSON in lines. */
function dataText(structured: JsonObject): string {
  const { success, data } = evaluated.safeParse(structured);
  if (!success) return jsonText(structured);
  const { values, values_left_out: left, stdout } = data;
  const ending = { kind: "values", values, count: values.length + left } as const;
  // The tool has already cut them.
  return reportText({ transcript: { ...EMPTY_TRANSCRIPT, stdout }, ending }, Number.POSITIVE_INFINITY);
}
