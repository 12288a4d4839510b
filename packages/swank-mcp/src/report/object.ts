import type { types } from "swank-client";
import { answerWith, type ToolAnswer } from "../base/answer.js";
import { cutText, more, oneLine, timeText } from "../text/cut.js";

const OBJECT_META = "swank-mcp/object";

const MAX_NAME = 100;

export function objectAnswer(view: types.ObjectView, start = 0): ToolAnswer {
  const { id, kind, text, expression, facts, count, parts, cut, looking } = view;
  const left = count - start - parts.length;
  const reference = `(swank-objects:ref ${id})`;
  const lines = [
    text,
    `${kind}, id ${id}${expression === reference ? "" : `, ${expression}`}`,
    ...facts.map((fact) => `${fact.label}: ${fact.text}`),
    ...partLines(parts, ""),
    ...(left > 0 && parts.length > 0 ? [`${more(left, "part")}; the next is start ${start + parts.length}.`] : []),
    ...(count > 0 && parts.length === 0 && start >= count ? [`It has only ${count} parts.`] : []),
    `Looking took ${timeText(looking)}.`,
    ...(cut ? ["Cut: not everything fits into one answer, or printing took too long."] : []),
  ];
  return answerWith([cutText(lines.join("\n"))], OBJECT_META, view);
}

function partLines(parts: readonly types.ObjectPart[], indent: string): string[] {
  return parts.flatMap((part) => [`${indent}${partLine(part)}`, ...deeper(part, `${indent}  `)]);
}

function deeper({ parts = [], count = 0, repeated }: types.ObjectPart, indent: string): string[] {
  if (repeated === true) return [`${indent}(its parts are shown elsewhere in this answer)`];
  if (parts.length === 0) return [];
  const left = count - parts.length;
  return [...partLines(parts, indent), ...(left > 0 ? [`${indent}${more(left, "part")}`] : [])];
}

function partLine({ index, name, text, id, keyId, expression, mark }: types.ObjectPart): string {
  const value = mark === "unbound" ? "unbound" : text;
  const title = name === String(index) ? `[${index}]` : `[${index}] ${oneLine(name, MAX_NAME)}:`;
  const ids = [...(id === undefined ? [] : [`id ${id}`]), ...(keyId === undefined ? [] : [`key id ${keyId}`])];
  const marks = mark === undefined || mark === "unbound" ? [] : [mark];
  const aside = [...ids, ...marks, ...(expression === undefined ? [] : [expression])].join(", ");
  return `${title} ${value}${aside === "" ? "" : `  ; ${aside}`}`;
}
