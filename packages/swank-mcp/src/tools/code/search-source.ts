import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { patternRefusal } from "../../calls/pattern-refusal.js";
import { foundLinesAnswer } from "../../format/found-lines.js";
import { Refusal } from "../../refusals/refusal.js";

/** Most lines in one answer. */
const MAX_LINES = 300;

export const searchSource = defineTool({
  name: "search-source",
  family: "code",
  effect: "reads",
  title: "Search source",
  description:
    "Find text in the program's source: matching lines with file, line and definition, in the files of everything that is loaded, of one system, or of a folder. Ignores case. Says where it looked.",
  input: () =>
    z.strictObject({
      pattern: z.string().min(1).describe("Text within a line, e.g. (sort-mail"),
      regexp: z.boolean().optional().describe("The pattern is a regular expression, e.g. \\bset[fq] \\*"),
      system: z.string().min(1).optional().describe("Only files of this ASDF system"),
      folder: z.string().min(1).optional().describe("Only Lisp files below this folder, loaded or not"),
      start: z.int().min(0).optional().describe("Skip this many matches"),
      limit: z.int().min(1).max(MAX_LINES).optional().describe("Most lines to show (default 50)"),
    }),
  async run({ pattern, regexp = false, system, folder, start = 0, limit }, { session, signal, guide }) {
    if (system !== undefined && folder !== undefined) {
      throw new Refusal("INVALID_ARGUMENTS", "search-source: Give a system or a folder, not both.", {
        remedy: "Leave out one of them.",
      });
    }
    const { client } = await session();
    const found = await client.code.searchSource(pattern, { regexp, system, folder, start, limit, signal });
    if (found.status === "bad-pattern") throw patternRefusal("search-source", found.reason);
    return foundLinesAnswer(found, { pattern, regexp, start }, guide);
  },
});
