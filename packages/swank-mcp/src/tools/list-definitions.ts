import * as z from "zod";
import { definitionsBlocks, definitionsMeta, LISTED_TYPES } from "../format/definition-list.js";
import { defineTool } from "../tool.js";

export const listDefinitions = defineTool({
  name: "list-definitions",
  title: "List definitions",
  description:
    "List what this session's code has defined, by type, in order, and the files it has loaded. Marks what was redefined.",
  input: z.strictObject({
    type: z.enum(LISTED_TYPES).optional().describe("List these only"),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run({ type }, { session, signal }) {
    const { client } = await session();
    const all = await client.definitions({ signal });
    return { blocks: definitionsBlocks(all, type), isError: false, meta: definitionsMeta(all, type) };
  },
});
