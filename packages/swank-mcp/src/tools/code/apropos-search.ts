import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { patternRefusal } from "../../calls/pattern-refusal.js";
import { foundNamesAnswer } from "../../format/found-names.js";

/** The kinds by which an agent can narrow a search. */
const KINDS = [
  "function",
  "macro",
  "generic-function",
  "variable",
  "constant",
  "class",
  "structure",
  "condition",
  "type",
] as const;

/** Most names in one answer. */
const MAX_NAMES = 300;

export const aproposSearch = defineTool({
  name: "apropos-search",
  family: "code",
  effect: "reads",
  title: "Search names",
  description:
    "Find a name of which you know a part: the names in the image that contain a text, or match a regular expression, by package, with kind, arglist and first line of documentation. Ignores case. Counts what it leaves out.",
  input: () =>
    z.strictObject({
      pattern: z.string().min(1).describe("Part of a name, e.g. hash-table"),
      regexp: z.boolean().optional().describe("The pattern is a regular expression, e.g. ^make-.*stream$"),
      package: z.string().min(1).optional().describe("Only names of this package"),
      kind: z.enum(KINDS).optional().describe("Only names of this kind"),
      external: z.boolean().optional().describe("Only exported names"),
      limit: z.int().min(1).max(MAX_NAMES).optional().describe("Most names to show (default 50)"),
    }),
  async run({ pattern, regexp = false, package: packageName, kind, external, limit }, { session, signal, guide }) {
    const { client } = await session();
    const found = await client.code.apropos(pattern, { regexp, package: packageName, kind, external, limit, signal });
    if (found.status === "bad-pattern") throw patternRefusal("apropos-search", found.reason);
    return foundNamesAnswer(found, { pattern, regexp, package: packageName, kind, external }, guide);
  },
});
