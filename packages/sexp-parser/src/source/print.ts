import type { SourceNode, SourceTree } from "./types.js";

/** The text of a tree or node, exactly as read. Only the nodes matter, so changed copies of a tree print, too. */
export function printSource(source: SourceTree | SourceNode): string {
  const waiting: (SourceTree | SourceNode | string)[] = [source];
  let text = "";
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "string") text += next;
    else if ("text" in next) text += next.text;
    else {
      text += next.open;
      waiting.push(next.close);
      for (let index = next.children.length - 1; index >= 0; index--) waiting.push(next.children[index] ?? "");
    }
  }
  return text;
}
