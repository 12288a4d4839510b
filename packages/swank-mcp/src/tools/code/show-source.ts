import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { namesNear, similarNames } from "../../calls/similar-names.js";
import type { ToolContext } from "../../calls/tool-context.js";
import { isUndefined, shownSourceAnswer } from "../../format/definition-texts.js";
import { shownFileAnswer } from "../../format/file-lines.js";
import { Refusal } from "../../refusals/refusal.js";

export const showSource = defineTool({
  name: "show-source",
  family: "code",
  effect: "reads",
  title: "Show source",
  description:
    "Read a definition before you call or change it: the text of all definitions of a name, methods too, with file and line. The text is that of the file if the file is as it was loaded, otherwise the recorded form; the answer says which. Or lines of a file.",
  input: () =>
    z.strictObject({
      name: z
        .string()
        .min(1)
        .optional()
        .describe("As code writes it: run, app:run, (setf size), (method area (circle))"),
      package: z.string().min(1).optional().describe("Package of the name (default: the current one)"),
      file: z.string().min(1).optional().describe("Instead of a name: a source file"),
      line: z.int().min(1).optional().describe("The line of it to show (default 1)"),
      context: z.int().min(0).max(500).optional().describe("Lines shown before and after it (default 20)"),
    }),
  async run({ name, package: packageName, file, line, context }, tools) {
    if ((name === undefined) === (file === undefined)) throw misused("Give either a name or a file.");
    if (file !== undefined) return showLines(file, { line, context }, tools);
    if (line !== undefined || context !== undefined) throw misused('"line" and "context" belong to a file.');
    if (name?.trim() === "") throw misused("The name is blank.");
    return showName(name ?? "", packageName, tools);
  },
});

async function showName(name: string, packageName: string | undefined, { session, signal, guide }: ToolContext) {
  const lisp = await session();
  const { client } = lisp;
  const shown = await client.code.showSource(name, { package: packageName, signal });
  const similar = isUndefined(shown)
    ? await namesNear(client, name, packageName ?? lisp.packageName)
    : await similarNames(client, name, shown);
  return shownSourceAnswer(shown, { name, similar }, guide);
}

async function showLines(
  file: string,
  { line = 1, context }: { readonly line: number | undefined; readonly context: number | undefined },
  { session, signal, guide }: ToolContext,
) {
  const { client } = await session();
  return shownFileAnswer(await client.code.showFile(file, { line, context, signal }), line, guide);
}

function misused(problem: string): Refusal {
  return new Refusal("INVALID_ARGUMENTS", `show-source: ${problem}`, {
    remedy: "Correct this and call again. show-source takes a name, or a file with line and context.",
  });
}
