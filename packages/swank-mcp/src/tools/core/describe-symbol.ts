import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { symbolBlocks, symbolMeta } from "../../format/symbol-blocks.js";
import type { LispClient } from "../../image/lisp-port.js";
import { nearestOnes } from "../../text/nearest.js";

/** The package and the first two letters of a name: people rarely misspell these. */
const BEGINNING = /^(?:[^\s:|\\]*::?)?[^\s:|\\]{2}/;
const MOST_SIMILAR = 5;

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
      arguments: z
        .array(z.string())
        .optional()
        .describe("Lists the methods that a call runs. Literals, 'data, variables, (swank-objects:ref N), class names"),
    }),
  async run({ name, package: packageName, arguments: args = [] }, { session, signal, guide }) {
    const { client } = await session();
    const description = await client.describeSymbol(name, { package: packageName, args, signal });
    const isUnknown = description.status === "symbol-not-found" && description.elsewhere.length === 0;
    const similar = isUnknown ? await similarNames(client, name, description.package) : [];
    return {
      blocks: symbolBlocks(description, name, { guide, similar, args }),
      isError: false,
      meta: symbolMeta(description),
    };
  },
});

/** Accessible symbols whose names begin alike and are similar, as code writes them. */
async function similarNames(client: LispClient, asked: string, packageName: string): Promise<readonly string[]> {
  const name = asked.trim();
  const [beginning] = BEGINNING.exec(name) ?? [];
  if (beginning === undefined) return [];
  const candidates = await client.completions(beginning, packageName).catch(() => []);
  return nearestOnes(name, candidates, MOST_SIMILAR);
}
