import type { FoundLines, ShownFile } from "../image/lisp-port.js";
import { cutText, fileName, oneLine } from "../text/cut.js";
import type { JsonObject, ToolAnswer } from "../text/tool-answer.js";
import type { ToolGuide } from "../text/tool-guide.js";
import { missingFileAnswer } from "./not-found.js";
import { numberedLines } from "./numbered-lines.js";

/** Key of a result's `_meta` under which programs find the place as data. */
const FILE_META = "swank-mcp/file";

/** Longest first line of a definition. */
const MAX_HEAD = 100;

/**
 * The answer of show-source for a file.
 *
 * @param line - The line that the caller asked for.
 */
export function shownFileAnswer(shown: ShownFile, line: number, guide: ToolGuide): ToolAnswer {
  const meta = { [FILE_META]: fileData(shown) };
  switch (shown.status) {
    case "found":
      return {
        blocks: [`${heading(shown, line)}\n${cutText(linesText(shown, line))}`.trimEnd()],
        isError: false,
        meta,
      };
    case "file-unreadable":
      return { blocks: [unreadableText(shown.file)], isError: true, meta };
    case "file-not-found":
      return missingFileAnswer(shown, FILE_META, guide);
  }
}

function unreadableText(file: string): string {
  return `The image cannot read ${fileName(file)}: it is too large, or may not be read.`;
}

function heading({ file, count, first, lines, definition, changed }: FoundLines, line: number): string {
  const beyond = line > Math.max(count, 1) ? `; there is no line ${line}, so these are the last` : "";
  const place = lines.length === 0 ? "no lines" : `lines ${first}-${first + lines.length - 1} of ${count}`;
  const within = definition === undefined ? "" : `, in ${oneLine(definition.text, MAX_HEAD)} (line ${definition.line})`;
  return `${fileName(file)}: ${place}${beyond}${within}${changed ? "; the file has changed since it was loaded" : ""}`;
}

function linesText({ lines, first }: FoundLines, line: number): string {
  return numberedLines(lines, first, line).join("\n");
}

function fileData(shown: ShownFile): JsonObject {
  if (shown.status !== "found") return { ...shown };
  const { file, count, first, lines, definition, changed } = shown;
  return { file, count, first, last: first + lines.length - 1, definition: definition && { ...definition }, changed };
}
