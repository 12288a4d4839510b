import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { definitionsBlocks, definitionsMeta, LISTED_TYPES } from "../../format/definition-list.js";

export const listDefinitions = defineTool({
  name: "list-definitions",
  family: "core",
  effect: "reads",
  title: "List definitions",
  description: "List this session's definitions by type, in order, and the files it has loaded. Marks redefinitions.",
  input: () =>
    z.strictObject({
      type: z.enum(LISTED_TYPES).optional().describe("List only this type"),
    }),
  async run({ type }, { session, signal }) {
    const { client } = await session();
    const all = await client.definitions({ signal });
    return { blocks: definitionsBlocks(all, type), isError: false, meta: definitionsMeta(all, type) };
  },
});
