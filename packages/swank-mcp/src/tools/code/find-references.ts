import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { namesNear, similarNames } from "../../calls/similar-names.js";
import { referencesAnswer } from "../../format/found-references.js";
import { namesNothing } from "../../format/no-references.js";

export const findReferences = defineTool({
  name: "find-references",
  family: "code",
  effect: "reads",
  title: "Find references",
  description:
    "See what a change affects: the definitions that use a name, by file with line and first line of the form, from the compiler's cross references. If there are none, says why.",
  input: () =>
    z.strictObject({
      name: z.string().min(1).describe("As code writes it: run, app:*limit*, (setf size)"),
      kind: z
        .enum([
          "callers",
          "callees",
          "references",
          "bindings",
          "assignments",
          "macro-uses",
          "specializers",
          "subclasses",
        ])
        .describe("Of a function; of a special variable; of a macro; of a class (specializers: methods on it)"),
      package: z.string().min(1).optional().describe("Package of the name (default: the current one)"),
      start: z.int().min(0).optional().describe("Skip this many; 50 are shown"),
    }),
  async run({ name, kind, package: packageName, start = 0 }, { session, signal, guide }) {
    const lisp = await session();
    const { client } = lisp;
    const found = await client.code.findReferences(name, kind, { package: packageName, start, signal });
    const similar = namesNothing(found)
      ? await namesNear(client, name, packageName ?? lisp.packageName)
      : await similarNames(client, name, found);
    return referencesAnswer(found, { name, kind, start, similar }, guide);
  },
});
