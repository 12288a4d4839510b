import type { HeapInstance, HeapInstances } from "../image/lisp-port.js";
import { cutText, oneLine } from "../text/cut.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import { HEAP_META } from "./heap.js";
import { lookLines, MAX_TYPE, TYPE_HEADING, typeLine } from "./heap-look.js";
import { bytesText, countText } from "./quantities.js";

/** The answer of heap about objects of a type. */
export function instancesAnswer(found: HeapInstances): ToolAnswer {
  const { type, count, bytes, types, every, instances } = found;
  const text = [
    `${countText(count)} ${count === 1 ? "object" : "objects"} of type ${oneLine(type, MAX_TYPE)}, ${bytesText(bytes)}.`,
    ...lookLines(found),
    ...(types.length > 1 ? [TYPE_HEADING, ...types.map(typeLine)] : []),
    ...(instances.length === 0 ? [] : [shownText(every)]),
    ...instances.map(instanceLine),
  ].join("\n");
  const data = {
    ...found,
    types: types.map((item) => ({ ...item })),
    instances: instances.map((item) => ({ ...item })),
  };
  return { blocks: [cutText(text)], isError: false, meta: { [HEAP_META]: data } };
}

function shownText(every: number): string {
  return every > 1 ? `Ids of one in ${countText(every)}, in the order of the heap:` : "Ids:";
}

function instanceLine({ id, bytes, text }: HeapInstance): string {
  return `id ${id}: ${text}  ; ${bytesText(bytes)}`;
}
