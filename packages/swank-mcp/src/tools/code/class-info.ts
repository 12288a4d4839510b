import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { namesNear, similarNames } from "../../calls/similar-names.js";
import { classInfoAnswer, namesNothing } from "../../format/class-info.js";
import { Refusal } from "../../refusals/refusal.js";
import { cutName } from "../../text/cut.js";

export const classInfo = defineTool({
  name: "class-info",
  family: "code",
  effect: "reads",
  title: "Class info",
  description:
    "Understand a class or generic function: precedence, slots with accessors, types and initforms, super- and subclasses, and the methods with file and system; with arguments, the order in which they run.",
  input: () =>
    z.strictObject({
      name: z.string().min(1).describe("A class, or a generic function such as (setf size)"),
      package: z.string().min(1).optional().describe("Package of the name (default: the current one)"),
      arguments: z
        .array(z.string())
        .optional()
        .describe("Of a call of the function: literals, 'data, variables, class names"),
    }),
  async run({ name, package: packageName, arguments: args = [] }, { session, signal, guide }) {
    const lisp = await session();
    const { client } = lisp;
    const info = await client.code.classInfo(name, { package: packageName, args, signal });
    if (args.length > 0 && info.status === "found" && info.function === undefined && !namesNothing(info))
      throw notGeneric(info.name);
    const similar = namesNothing(info)
      ? await namesNear(client, name, packageName ?? lisp.packageName)
      : await similarNames(client, name, info);
    return classInfoAnswer(info, { name, args, similar }, guide);
  },
});

function notGeneric(name: string): Refusal {
  const shown = cutName(name);
  return new Refusal("INVALID_ARGUMENTS", `class-info: ${shown} is not a generic function, so it takes no arguments.`, {
    remedy: `Call again with the name of a generic function, or describe ${shown} without arguments.`,
  });
}
