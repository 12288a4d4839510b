import type { Conclusion, ConditionEnding } from "../conclusion.js";
import { reportBacktrace } from "./backtrace.js";
import { cutText } from "./cut.js";
import { transcriptSections } from "./sections.js";

/** The text of evaluate-lisp and of the tools that resume an evaluation (contract condition-report), sections apart by a blank line. */
export function reportText(conclusion: Conclusion): string {
  return [...transcriptSections(conclusion.transcript), ...endingSections(conclusion)].join("\n\n");
}

function endingSections(conclusion: Conclusion): string[] {
  const { ending } = conclusion;
  if (ending.kind === "values") return [valueLines(ending.values)];
  if (ending.kind === "aborted")
    return [ending.byReset ? "; Evaluation aborted: the session was reset" : "; Evaluation aborted"];
  return conditionSections(ending);
}

function valueLines(values: readonly string[]): string {
  if (values.length === 0) return "; No values";
  return values.map((value) => `=> ${cutText(value)}`).join("\n");
}

function conditionSections({ tag, error }: ConditionEnding): string[] {
  const backtrace = reportBacktrace(error);
  const heading = `[${tag}] ${error.type}\n${cutText(error.message)}`;
  return backtrace === "" ? [heading] : [heading, backtrace];
}
