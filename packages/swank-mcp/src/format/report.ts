import type { Conclusion, ConditionEnding } from "../conclusion.js";
import { reportBacktrace } from "./backtrace.js";
import { cutText, more } from "./cut.js";
import { transcriptSections } from "./sections.js";

/** Most values shown of a form; `(values-list ...)` can give thousands. */
const MAX_VALUES = 50;

/** The text of evaluate-lisp and of the tools that resume an evaluation (contract condition-report), sections apart by a blank line. */
export function reportText(conclusion: Conclusion): string {
  return [...transcriptSections(conclusion.transcript), ...endingSections(conclusion)].join("\n\n");
}

function endingSections(conclusion: Conclusion): string[] {
  const { ending } = conclusion;
  if (ending.kind === "values") return [valueLines(ending.values)];
  if (ending.kind === "aborted") return ["; Evaluation aborted"];
  return conditionSections(ending);
}

function valueLines(values: readonly string[]): string {
  if (values.length === 0) return "; No values";
  const left = values.length - MAX_VALUES;
  const lines = values.slice(0, MAX_VALUES).map((value) => `=> ${cutText(value)}`);
  return [...lines, ...(left > 0 ? [more(left, "value")] : [])].join("\n");
}

function conditionSections({ tag, error }: ConditionEnding): string[] {
  const backtrace = reportBacktrace(error);
  const heading = `[${tag}] ${error.type}\n${cutText(error.message)}`;
  return backtrace === "" ? [heading] : [heading, backtrace];
}
