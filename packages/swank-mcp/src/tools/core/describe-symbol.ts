import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { symbolBlocks, symbolMeta } from "../../format/symbol-blocks.js";

export const describeSymbol = defineTool({
  name: "describe-symbol",
  family: "core",
  effect: "reads",
  title: "Describe symbol",
  description:
    "Get comprehensive information about a Lisp symbol: type, arglist, value, documentation, and source location. Takes names as code writes them, in any case: mapcar, my-app:run, :key, |Odd Name|.",
  input: () =>
    z.strictObject({
      name: z.string().min(1).describe("Symbol name to describe"),
      package: z.string().min(1).optional().describe("Package name (defaults to CL-USER)"),
    }),
  async run({ name, package: packageName }, { session, signal, guide }) {
    const { client } = await session();
    const description = await client.describeSymbol(name, { package: packageName, signal });
    return { blocks: symbolBlocks(description, name, guide), isError: false, meta: symbolMeta(description) };
  },
});
