import type { ToolAnswer } from "../text/tool-answer.js";
import { jsonText } from "./json-text.js";

/** An answer as the console shows it: the agent's text, or JSON in lines, with the notices below it. */
export function answerText({ blocks, structured, isError }: ToolAnswer): string {
  const [, ...others] = blocks;
  if (structured === undefined || isError) return blocks.join("\n\n");
  const { notices, ...data } = structured;
  const texts = Array.isArray(notices) ? [notices.join("\n")] : [];
  return [jsonText(data), ...others, ...texts].join("\n\n");
}
