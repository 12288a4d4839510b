import type { Reference, TextState } from "../image/lisp-port.js";
import { cutName, fileName, oneLine } from "../text/cut.js";
import { MAX_NAME } from "./meaning-text.js";

/** Longest first line of a form. */
const MAX_HEAD = 100;

/** What is found besides the form that Lisp has loaded from the file. */
const STATES: Partial<Record<TextState, string>> = {
  changed: "the file has changed since it was loaded",
  "as-loaded": "the file has changed since it was loaded",
  recorded: "the file has changed or cannot be read",
  gone: "the file has changed, and does not define this any more",
  unreadable: "the image cannot read the file",
};

/** `FILE:LINE:COLUMN: FIRST LINE OF THE FORM  [further lines that use the name; other notes; `facts`]` */
export function definitionLine(
  { kind, name, state, head, uses, file, line, column, origin }: Reference,
  facts: readonly string[] = [],
): string {
  const source = fileName(file ?? origin ?? "no place recorded");
  const places = [source, line, column].filter((part) => part !== undefined).join(":");
  const notes = [
    ...(head === undefined || namesDefinition(head, kind, name) ? [] : [cutName(name, MAX_NAME)]),
    ...(uses.length > 0 ? [`${uses.length === 1 ? "line" : "lines"} ${uses.join(", ")}`] : []),
    ...(STATES[state] === undefined ? [] : [STATES[state]]),
    ...facts,
  ];
  const form = head === undefined ? cutName(name, MAX_NAME) : oneLine(head, MAX_HEAD);
  return `${places}: ${form}${notes.length === 0 ? "" : `  [${notes.join("; ")}]`}`;
}

/** Whether the first line of a form shows the name of the definition that it makes. */
function namesDefinition(head: string, kind: Reference["kind"], name: string): boolean {
  if (kind === "code") return true;
  if (kind === "method") return head.startsWith("(defmethod");
  const [bare = name] = /[^\s:()]+(?=\)?$)/.exec(name) ?? [];
  return head.toLowerCase().includes(bare.toLowerCase());
}
