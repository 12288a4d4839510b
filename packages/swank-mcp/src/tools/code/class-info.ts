import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { similarNames } from "../../calls/similar-names.js";
import { classInfoAnswer } from "../../format/class-info.js";

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
  async run({ name, package: packageName, arguments: args = [] }, { session, signal }) {
    const { client } = await session();
    const info = await client.code.classInfo(name, { package: packageName, args, signal });
    return classInfoAnswer(info, { name, args }, await similarNames(client, name, info));
  },
});
