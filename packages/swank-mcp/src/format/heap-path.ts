import type { HeapPath } from "../image/lisp-port.js";
import { cutText, more } from "../text/cut.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import { HEAP_META } from "./heap.js";
import { bytesText, countText, timeText } from "./quantities.js";

/** Steps shown before those that are left out. */
const FIRST_STEPS = 12;

const UNSEEN = "Stacks, registers and foreign memory are not searched";

/** The answer of heap about what keeps an object alive. */
export function pathAnswer(path: HeapPath): ToolAnswer {
  const { steps, objects, time, bytes } = path;
  const text = [
    heading(path),
    ...stepLines(path),
    `Searched ${countText(objects)} objects in ${timeText(time)} without pausing the program; ${bytesText(bytes)} allocated meanwhile.`,
    ...(path.end === "found" ? [`Other references may exist. ${UNSEEN}.`] : []),
  ].join("\n");
  const data = { ...path, steps: steps.map((step) => ({ ...step })) };
  return { blocks: [cutText(text)], isError: false, meta: { [HEAP_META]: data } };
}

function heading({ id, text, end, own }: HeapPath): string {
  const object = `${text} (id ${id})`;
  switch (end) {
    case "found":
      return own
        ? `Only this toolkit keeps ${object}: history variables (* ** *** /) and inspected objects of sessions. The program does not.`
        : `The shortest way from a root to ${object}:`;
    case "none":
      return `No variable, function, class or thread's binding leads to ${object}. ${UNSEEN}: a running function may keep it, or it is garbage that is not collected yet.`;
    case "time":
      return `Not found: the search for ${object} was given up after 15 s.`;
    case "size":
      return `Not found: the free memory does not suffice to search on for ${object}.`;
  }
}

function stepLines({ steps, left }: HeapPath): string[] {
  const lines = steps.map(({ name, id, expression, text }) => `${name}: ${text}  ; id ${id}, ${expression}`);
  if (left === 0) return lines;
  return [...lines.slice(0, FIRST_STEPS), more(left, "step"), ...lines.slice(FIRST_STEPS)];
}
