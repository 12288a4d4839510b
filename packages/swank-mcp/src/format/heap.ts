import type { HeapGrowth, HeapSummary, HeapTypeGrowth } from "../image/lisp-port.js";
import { cutText, more, oneLine } from "../text/cut.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import type { ToolGuide } from "../text/tool-guide.js";
import { lookLines, MAX_TYPE, TYPE_HEADING, typeLine } from "./heap-look.js";
import { bytesText, countText, timeText } from "./quantities.js";

/** Key of a result's `_meta` under which programs find what heap shows as data. */
export const HEAP_META = "swank-mcp/heap";

const MAX_VALUE = 500;

/** The answer of heap about what the heap contains. */
export function summaryAnswer(summary: HeapSummary, guide: ToolGuide): ToolAnswer {
  const { id, types, typeCount, objects, bytes } = summary;
  const left = typeCount - types.length;
  const text = [
    `${countText(objects)} ${objects === 1 ? "object" : "objects"} of ${countText(typeCount)} ${typeCount === 1 ? "type" : "types"}, ${bytesText(bytes)}.`,
    ...lookLines(summary),
    ...(types.length === 0
      ? []
      : [TYPE_HEADING, ...types.map((type) => typeLine({ ...type, name: oneLine(type.name, MAX_TYPE) }))]),
    ...(left > 0 ? [`${more(left, "type")}`] : []),
    ...(id === undefined ? [] : [guide.advise("heap with growth compares with this.")]),
  ].join("\n");
  return {
    blocks: [cutText(text)],
    isError: false,
    meta: { [HEAP_META]: { ...summary, types: types.map((type) => ({ ...type })) } },
  };
}

/** The answer of heap about what has grown, and the values of the code that ran. */
export function growthAnswer(growth: HeapGrowth, values: readonly string[] = []): ToolAnswer {
  const { types, typeCount, objects, bytes, ago } = growth;
  const left = typeCount - types.length;
  const text = [
    `${signed(objects, countText)} objects, ${signed(bytes, bytesText)} since the summary ${timeText(ago)} ago.`,
    ...values.map((value) => `=> ${oneLine(value, MAX_VALUE)}`),
    ...lookLines(growth),
    ...differenceLines(growth),
    ...(types.length === 0 ? [] : [TYPE_HEADING, ...types.map(growthLine)]),
    ...(left > 0 ? [more(left, "type")] : []),
  ].join("\n");
  const data = { ...growth, types: types.map((type) => ({ ...type })), values: [...values] };
  return { blocks: [cutText(text)], isError: false, meta: { [HEAP_META]: data } };
}

function differenceLines({ collected, collectedBefore }: HeapGrowth): string[] {
  return collected === collectedBefore
    ? []
    : ["The summary differs in whether garbage counts, so the figures say little."];
}

function growthLine({ name, count, bytes, countBefore }: HeapTypeGrowth): string {
  const columns = [signed(bytes, bytesText).padStart(10), signed(count, countText).padStart(11)].join("  ");
  return `${columns}  ${oneLine(name, MAX_TYPE)} (${countText(countBefore)} before)`;
}

/** A difference with its sign. */
function signed(difference: number, text: (amount: number) => string): string {
  return difference < 0 ? `-${text(-difference)}` : `+${text(difference)}`;
}
