import type { Conclusion, ConditionEnding, Ending, ValuesEnding } from "../conclusion.js";
import { reportBacktrace } from "./backtrace.js";
import { cutName, cutText, cutTexts, valuesCost } from "./cut.js";
import { transcriptSections } from "./sections.js";

/** Where the whole values are: Lisp keeps those of the last form, as in any REPL. */
const VALUES_ARE_CUT = "; Cut to fit. The next call finds the values in the list /: (nth 0 /) is the first.";

/** What a report tells of a conclusion. */
type Report = Pick<Conclusion, "transcript" | "ending">;

/** The text of evaluate-lisp and of the tools that resume an evaluation (contract condition-report), sections apart by a blank line. */
export function reportText({ transcript, ending }: Report, maxValue?: number): string {
  return [...transcriptSections(transcript), ...endingSections(ending, valuesCost(maxValue))].join("\n\n");
}

function endingSections(ending: Ending, maxCost: number): string[] {
  if (ending.kind === "values") return [valueLines(ending, maxCost)];
  if (ending.kind === "aborted")
    return [ending.byReset ? "; Evaluation aborted: the session was reset" : "; Evaluation aborted"];
  return conditionSections(ending);
}

function valueLines({ values, count }: ValuesEnding, maxCost: number): string {
  if (values.length === 0) return "; No values";
  const shown = cutTexts(values, maxCost);
  const isCut = values.length > 1 && shown.some((text, index) => text !== values[index]);
  const some = count > values.length ? [`[${values.length} of ${count} values shown]`] : [];
  return [...[...shown, ...some].map((value) => `=> ${value}`), ...(isCut ? [VALUES_ARE_CUT] : [])].join("\n");
}

function conditionSections({ tag, error }: ConditionEnding): string[] {
  const backtrace = reportBacktrace(error);
  const heading = `[${tag}] ${cutName(error.type)}\n${cutText(error.message)}`;
  return backtrace === "" ? [heading] : [heading, backtrace];
}
