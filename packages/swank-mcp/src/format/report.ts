import type { Conclusion, ConditionEnding, Ending, ValuesEnding } from "../evaluation/conclusion.js";
import type { Transcript } from "../image/lisp-port.js";
import { cutName, cutText, cutTexts, valuesCost } from "../text/cut.js";
import { EVERY_TOOL, type ToolGuide } from "../text/tool-guide.js";
import { reportBacktrace } from "./backtrace.js";
import { transcriptSections } from "./sections.js";
import { notedValues } from "./value-cuts.js";

/** How to get the whole values: Lisp keeps those of the last form, as in any REPL. */
const VALUES_ARE_CUT = "; Cut to fit. In the next call the list / holds the whole values: (nth 0 /) is the first.";

/** The same for values of code in a frame, which no variable keeps. */
const FRAME_VALUES_ARE_CUT = "; Cut to fit. (nth-value 0 FORM) in the frame gives the first value alone, more of it.";

/** Characters of standard output beside which a NIL says nothing: the code printed. */
const MUCH_OUTPUT = 1000;

/** The parts of a conclusion that a report shows. */
type Report = Pick<Conclusion, "transcript" | "ending">;

/** The text of evaluate-lisp and of tools that resume an evaluation (contract condition-report). Blank lines separate sections. */
export function reportText({ transcript, ending }: Report, maxValue?: number, guide: ToolGuide = EVERY_TOOL): string {
  const ends = onlyPrinted(transcript, ending) ? [] : endingSections(ending, valuesCost(maxValue), guide);
  return [...transcriptSections(transcript), ...ends].join("\n\n");
}

/** Whether the code printed much, and returned only the NIL of the form that printed. */
function onlyPrinted({ stdout }: Transcript, ending: Ending): boolean {
  if (ending.kind !== "values" || stdout.length < MUCH_OUTPUT) return false;
  return ending.count === 1 && ending.values[0] === "NIL";
}

function endingSections(ending: Ending, maxCost: number, guide: ToolGuide): string[] {
  if (ending.kind === "values") return [valueLines(ending, maxCost)];
  if (ending.kind === "aborted")
    return [ending.byReset ? "; Evaluation aborted: the session was reset" : "; Evaluation aborted"];
  return conditionSections(ending, guide);
}

function valueLines(ending: ValuesEnding, maxCost: number): string {
  const { count, forms } = ending;
  const values = notedValues(ending);
  if (values.length === 0) return "; No values";
  const shown = cutTexts(values, maxCost);
  const isCut = values.length > 1 && shown.some((text, index) => text !== values[index]);
  const some = count > values.length ? [`[${values.length} of ${count} values shown]`] : [];
  const advice = forms === undefined ? FRAME_VALUES_ARE_CUT : VALUES_ARE_CUT;
  return [...[...shown, ...some].map((value) => `=> ${value}`), ...(isCut ? [advice] : [])].join("\n");
}

function conditionSections({ tag, error }: ConditionEnding, guide: ToolGuide): string[] {
  const backtrace = reportBacktrace(error, guide);
  const heading = `[${tag}] ${cutName(error.type)}\n${cutText(error.message)}`;
  return backtrace === "" ? [heading] : [heading, backtrace];
}
