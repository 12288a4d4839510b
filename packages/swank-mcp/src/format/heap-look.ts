import type { HeapLook, HeapType } from "../image/lisp-port.js";
import { bytesText, countText, timeText } from "./quantities.js";

/** Most characters of the name of a type. */
export const MAX_TYPE = 90;

/** What looking has cost, and what may be missing. */
export function lookLines({ collected, gc, walk, complete, used, size }: HeapLook): string[] {
  const collection = collected === "yes" ? `, after a full collection that paused all threads for ${timeText(gc)}` : "";
  return [
    `Heap: ${bytesText(used)} of ${bytesText(size)} in use. Walked for ${timeText(walk)}, while no garbage was collected${collection}.`,
    ...(collected === "no" ? ["Garbage counts, too: it was not collected first."] : []),
    ...(collected === "unsafe"
      ? ["Garbage counts, too: more than half of the heap is in use, and then a full collection could end SBCL."]
      : []),
    ...(complete
      ? []
      : ["Incomplete: the walk was given up after 5 s, or because the heap is nearly full, so objects are missing."]),
  ];
}

/** A row of a table of types: bytes, count and name. */
export function typeLine({ name, count, bytes }: HeapType): string {
  return `${bytesText(bytes).padStart(10)}  ${countText(count).padStart(11)}  ${name}`;
}

/** The heading of the rows. */
export const TYPE_HEADING = `${"bytes".padStart(10)}  ${"objects".padStart(11)}  type`;
