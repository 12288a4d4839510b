import * as z from "zod";
import type { ToolAnswer } from "../text/tool-answer.js";
import { type ToolCommand, usageHint } from "./commands.js";

const refusedArguments = z.looseObject({
  error: z.looseObject({ message: z.string(), data: z.looseObject({ type: z.literal("INVALID_ARGUMENTS") }) }),
});

/** The text for a command whose words the tool refuses, in the console's terms; `undefined` for any other answer. */
export function misuseText({ structured }: ToolAnswer, command: ToolCommand): string | undefined {
  const { success, data } = refusedArguments.safeParse(structured);
  if (!success) return undefined;
  const problem = data.error.message.replace(`${command.tool}: `, "").replace(/^The argument "([^"]*)"/, "$1");
  return `${problem}\n${usageHint(command)}`;
}
