import { wholeEnd } from "../text/cut.js";
import type { ToolGuide } from "../text/tool-guide.js";

/** Most characters that a cut output keeps of its end; of a short output, a third. */
const MAX_TAIL = 4000;

/** The tool that reads kept output on. */
const READER = "evaluate-lisp";

/** Positions in an output of which at most `max` characters are shown: the parts before `head` and from `tail` on. */
function cutAt(text: string, max: number): { readonly head: number; readonly tail: number } {
  const ending = Math.min(MAX_TAIL, Math.floor(max / 3));
  return { head: wholeEnd(text, max - ending), tail: wholeEnd(text, text.length - ending) };
}

/**
 * The beginning and the end of an output that is longer than `max`. A line between them says how to read on.
 *
 * @param id - The id under which the whole output is kept.
 */
export function cutOutput(text: string, max: number, id: number, guide: ToolGuide): string {
  const { head, tail } = cutAt(text, max);
  const how =
    guide.nameOf(READER) === READER ? `. To read on, call ${READER} with {"output":${id},"offset":${head}}` : "";
  const marker = `[... ${tail - head} of ${text.length} characters left out: max-output is ${max}${how} ...]`;
  return `${text.slice(0, head)}\n${marker}\n${text.slice(tail)}`;
}

/** A part of a kept output, and where it is in the whole. */
export function outputPart(text: string, offset: number, max: number, id: number): { part: string; place: string } {
  const end = wholeEnd(text, Math.min(text.length, offset + max));
  const next = end < text.length ? ` Next: {"output":${id},"offset":${end}}` : "";
  return {
    part: text.slice(offset, end),
    place: `Characters ${offset} to ${end} of ${text.length}.${next}`,
  };
}
