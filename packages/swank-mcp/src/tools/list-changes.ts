import * as z from "zod";
import { defineTool } from "../call/tool.js";
import { changesAnswer } from "../report/changes.js";

export const listChanges = defineTool({
  name: "list-changes",
  family: "code",
  needs: "runtime",
  effect: "reads",
  title: "List changes",
  description:
    "See what must be saved or loaded: where image and files differ. Definitions that only the image has, also other clients'; those that differ from their file; forms of files that changed since loading; definitions deleted from files; variables this session has set.",
  input: () =>
    z.strictObject({
      file: z.string().min(1).optional().describe("Only this source file (default: all, and what no file has)"),
      text: z.boolean().optional().describe("Show texts and diffs (default true)"),
    }),
  async run({ file, text = true }, { session, signal, guide }) {
    const { client } = await session();
    return changesAnswer(await client.code.listChanges({ file, signal }), { file, text }, guide);
  },
});
