import type { Expansion, Expansions, PlainOperator } from "../image/lisp-port.js";
import { cutTexts } from "../text/cut.js";
import type { JsonObject, ToolAnswer } from "../text/tool-answer.js";
import type { ToolGuide } from "../text/tool-guide.js";
import { missingNameAnswer } from "./not-found.js";

/** Key of a result's `_meta` under which programs find whether forms were expanded. */
const EXPANSION_META = "swank-mcp/expansion";

/** The answer of macroexpand-form. */
export function expansionsAnswer(expansions: Expansions, guide: ToolGuide): ToolAnswer {
  switch (expansions.status) {
    case "expanded":
      return {
        blocks: [...expandedBlocks(expansions.forms)],
        isError: false,
        meta: data({ status: "expanded", expanded: expansions.forms.map(({ isExpanded }) => isExpanded) }),
      };
    case "package-not-found":
      return missingNameAnswer(expansions, { name: expansions.package, similar: [] }, EXPANSION_META, guide);
    case "unreadable":
      return failure(`The code cannot be read: ${expansions.message}`, expansions);
    case "failed":
      return failure(`A macro signalled ${expansions.type} while it was expanded:\n${expansions.message}`, expansions);
  }
}

function failure(text: string, facts: JsonObject): ToolAnswer {
  return { blocks: [text], isError: true, meta: data({ ...facts }) };
}

function data(facts: JsonObject): JsonObject {
  return { [EXPANSION_META]: facts };
}

/** The expansions, and a second block about forms that have none. */
function expandedBlocks(forms: readonly Expansion[]): string[] {
  const notes = forms.flatMap(({ isExpanded, operator }) => (isExpanded ? [] : [noteText(operator)]));
  const texts = cutTexts(forms.map(({ text }) => text)).join("\n\n");
  return notes.length === 0 ? [texts] : [texts, [...new Set(notes)].join("\n")];
}

function noteText(operator: PlainOperator | undefined): string {
  if (operator === undefined) return "Nothing to expand: this is no macro call.";
  const { name, kind, similar } = operator;
  if (kind !== undefined) return `Nothing to expand: ${name} is a ${kind.replaceAll("-", " ")}.`;
  const hint = similar.length === 0 ? "" : ` Similar names: ${similar.join(", ")}`;
  return `Nothing to expand: ${name} is not defined.${hint}`;
}
