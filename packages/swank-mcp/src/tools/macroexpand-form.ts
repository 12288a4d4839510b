import type { types } from "swank-client";
import * as z from "zod";
import { answerWith, type ToolAnswer, type ToolGuide } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { defineTool } from "../call/tool.js";
import { missingNameAnswer } from "../report/names.js";
import { cutTexts, holdsForm } from "../text/cut.js";

const EXPANSION_META = "swank-mcp/expansion";

function expansionsAnswer(expansions: types.Expansions, guide: ToolGuide): ToolAnswer {
  switch (expansions.status) {
    case "expanded": {
      const facts = { status: "expanded", expanded: expansions.forms.map(({ isExpanded }) => isExpanded) };
      return answerWith(expandedBlocks(expansions.forms), EXPANSION_META, facts);
    }
    case "package-not-found":
      return missingNameAnswer(expansions, { name: expansions.package, similar: [] }, EXPANSION_META, guide);
    case "unreadable":
      return failure(`The code cannot be read: ${expansions.message}`, expansions);
    case "failed":
      return failure(`A macro signalled ${expansions.type} while it was expanded:\n${expansions.message}`, expansions);
  }
}

function failure(text: string, facts: object): ToolAnswer {
  return answerWith([text], EXPANSION_META, facts, true);
}

function expandedBlocks(forms: readonly types.Expansion[]): string[] {
  const notes = forms.flatMap(({ isExpanded, operator }) => (isExpanded ? [] : [noteText(operator)]));
  const texts = cutTexts(forms.map(({ text }) => text)).join("\n\n");
  return notes.length === 0 ? [texts] : [texts, [...new Set(notes)].join("\n")];
}

function noteText(operator: types.PlainOperator | undefined): string {
  if (operator === undefined) return "Nothing to expand: this is no macro call.";
  const { name, kind, similar } = operator;
  if (kind !== undefined) return `Nothing to expand: ${name} is a ${kind.replaceAll("-", " ")}.`;
  const hint = similar.length === 0 ? "" : ` Similar names: ${similar.join(", ")}`;
  return `Nothing to expand: ${name} is not defined.${hint}`;
}

export const macroexpandForm = defineTool({
  name: "macroexpand-form",
  family: "code",
  needs: "describe",
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
