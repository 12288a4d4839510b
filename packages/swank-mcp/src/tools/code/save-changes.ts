import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { namesNear, similarNames } from "../../calls/similar-names.js";
import { savesAnswer } from "../../format/save-list.js";

export const saveChanges = defineTool({
  name: "save-changes",
  family: "code",
  effect: "writes-files",
  title: "Save changes",
  description:
    "Write definitions that you have evaluated and tested to their file, in place of the old form; comments around it stay. Shows the diff. A form that changed in the file since it was loaded is refused.",
  input: () =>
    z.strictObject({
      name: z
        .string()
        .min(1)
        .optional()
        .describe("As for show-source (default: all of this session's that differ from their file)"),
      file: z
        .string()
        .min(1)
        .optional()
        .describe("Only this file. With a name that no file defines: append to this file"),
      "dry-run": z.boolean().optional().describe("Only show the diff (default true)"),
    }),
  async run({ name, file, "dry-run": dryRun }, { session, signal, guide }) {
    const { client, packageName } = await session();
    const saves = await client.code.saveChanges({ name, file, dryRun, signal });
    const asked = name ?? "";
    const similar =
      saves.status === "undefined"
        ? await namesNear(client, asked, packageName)
        : await similarNames(client, asked, saves);
    return savesAnswer(saves, { name: asked, similar }, guide);
  },
});
