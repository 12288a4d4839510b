import type { ToolContext } from "../../calls/tool-context.js";
import { outputPart } from "../../format/output-parts.js";
import { textSection } from "../../format/sections.js";
import { Refusal } from "../../refusals/refusal.js";
import { type ToolAnswer, textAnswer } from "../../text/tool-answer.js";

/** Shows a part of an output that a report has cut. Runs nothing in Lisp. */
export function readOutput(id: number, offset: number, max: number, { agent }: ToolContext): ToolAnswer {
  const output = agent.outputs.find(id);
  if (output === undefined) throw new Refusal("NO_SUCH_OUTPUT", `Output ${id} is not kept.`);
  const { stream, text } = output;
  if (offset >= text.length)
    throw new Refusal("INVALID_ARGUMENTS", `Output ${id} ends at offset ${text.length}.`, {
      remedy: "Give a smaller offset.",
    });
  const { part, place } = outputPart(text, offset, max, id);
  return textAnswer(textSection(stream, part).join(""), place);
}
