import * as z from "zod";
import { defineTool } from "../call/tool.js";
import { placeLines, placesData, standardPlaces, syntaxPlaces } from "../report/hyperspec.js";
import { similarNames, symbolBlocks, symbolMeta } from "../report/names.js";
import { manualLines } from "../report/sbcl-manual.js";

export const describeSymbol = defineTool({
  name: "describe-symbol",
  family: "core",
  needs: "describe",
  effect: "reads",
  title: "Describe symbol",
  description:
    "Get comprehensive information about a Lisp symbol: type, arglist, value, documentation, and source location. Names as code writes them, in any case: mapcar, my-app:run, :key, |Odd Name|; and ~R, #'.",
  input: () =>
    z.strictObject({
      name: z.string().min(1).describe("Symbol name to describe"),
      package: z.string().min(1).optional().describe("Package name (defaults to CL-USER)"),
      arguments: z
        .array(z.string())
        .optional()
        .describe("Lists the methods that a call runs. Literals, 'data, variables, (swank-objects:ref N), class names"),
    }),
  async run({ name, package: packageName, arguments: args = [] }, { session, signal, guide }) {
    const { client } = await session();
    const description = await client.describeSymbol(name, { package: packageName, args, signal });
    const places = description.status === "found" ? standardPlaces(description.name) : syntaxPlaces(name);
    const similar = places.length > 0 ? [] : await similarNames(client, name, description);
    const [text = "", ...hints] = symbolBlocks(description, name, { guide, similar, args });
    const manual = description.status === "found" ? await manualLines(description) : [];
    const more = [...placeLines(places), ...manual, ...hints].join("\n");
    return {
      blocks: more === "" ? [text] : [text, more],
      isError: false,
      meta: symbolMeta(description, placesData(places)),
    };
  },
});
