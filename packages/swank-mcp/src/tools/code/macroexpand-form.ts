import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { expansionsAnswer } from "../../format/expansions.js";
import { Refusal } from "../../refusals/refusal.js";
import { holdsForm } from "../../text/holds-form.js";

export const macroexpandForm = defineTool({
  name: "macroexpand-form",
  family: "code",
  effect: "reads",
  // Macros are functions of the program, and the reader's #. evaluates.
  runsCode: "always",
  title: "Expand macros",
  description:
    "See what code with macros becomes: the expansion, without evaluating it. Symbols made by macros are numbered, so that they can be told apart.",
  input: () =>
    z.strictObject({
      code: z.string().describe("Forms, e.g. (with-open-file (s name) (read s))"),
      mode: z
        .enum(["once", "full", "all"])
        .optional()
        .describe("once: one step (default); full: until it is no macro call; all: inner macro calls, too"),
      package: z.string().min(1).optional().describe("Package of the code (default: the current one)"),
    }),
  async run({ code, mode, package: packageName }, { session, signal, guide }) {
    if (!holdsForm(code)) throw new Refusal("EMPTY_CODE", "The code contains no form, so nothing was expanded.");
    const { client } = await session();
    return expansionsAnswer(await client.code.macroexpand(code, { mode, package: packageName, signal }), guide);
  },
});
