import type { types } from "swank-client";
import * as z from "zod";
import type { JsonObject, ToolAnswer, ToolGuide } from "../base/answer.js";
import { misused, type Refusal } from "../base/refusals.js";
import { defineTool } from "../call/tool.js";
import { missingAnswer, similarNamesHint } from "../report/names.js";
import { cutName, cutText, expressionHint, fileName, firstTexts, howMany, oneLine, patternText } from "../text/cut.js";
import { oddCharacterHint } from "../text/visible.js";

export function patternRefusal(tool: string, reason: string): Refusal {
  const remedy = "Correct the pattern, or leave out regexp to search for the text.";
  return misused(tool, `The pattern is no regular expression. ${reason}.`, remedy);
}

const LINES_META = "swank-mcp/lines";

const MAX_LINE = 160;

const MAX_HEAD = 80;

const MAX_FOLDERS = 8;

interface Search {
  readonly pattern: string;
  readonly regexp: boolean;
  readonly start: number;
}

function foundLinesAnswer(
  found: Exclude<types.SourceMatches, { readonly status: "bad-pattern" }>,
  search: Search,
  guide: ToolGuide,
): ToolAnswer {
  const meta = { [LINES_META]: linesData(found) };
  if (found.status === "folder-not-found") {
    const text = `The image has no folder ${fileName(found.folder)}`;
    return missingAnswer({ what: "folder", blocks: [text, ...oddCharacterHint(found.folder)], meta }, guide);
  }
  if (found.status === "system-not-found")
    return missingAnswer({ what: "system", blocks: missingSystemBlocks(found), meta }, guide);
  const text = found.count === 0 ? noneText(found, search) : someText(found, search);
  return { blocks: [cutText(text)], isError: false, meta };
}

export function missingSystemBlocks({
  system,
  similar,
}: {
  readonly system: string;
  readonly similar: readonly string[];
}): string[] {
  return [
    `ASDF knows no system ${cutName(system)}: it has not been loaded.`,
    ...oddCharacterHint(system),
    ...similarNamesHint(similar, "Similar systems"),
  ];
}

function noneText(found: types.FoundInSources, { pattern, regexp }: Search): string {
  const none = `No line ${patternText(pattern, regexp)}${found.cut === undefined ? "" : " in the files that were searched"}.`;
  return [none, lookedAt(found), ...expressionHint(pattern, regexp), ...oddCharacterHint(pattern, "pattern")].join(
    "\n",
  );
}

function someText(found: types.FoundInSources, { pattern, regexp, start }: Search): string {
  const { matches, count, matchingFiles } = found;
  const shown = matches.reduce((sum, { lines }) => sum + lines.length, 0);
  const files = howMany(matchingFiles, "file");
  const what = `${howMany(count, "line")} in ${files}: ${shownPart(shown, start, count)}`;
  const next = start + shown < count ? [`For more, pass start: ${start + shown}.`] : [];
  return [
    `${what} ${patternText(pattern, regexp, shown)}`,
    ...matches.map(fileText),
    [...next, lookedAt(found)].join("\n"),
  ].join("\n\n");
}

function shownPart(shown: number, start: number, count: number): string {
  if (shown === 0) return `none from ${start} on`;
  if (shown === count) return count === 1 ? "it" : "all";
  return shown === 1 ? `line ${start + 1}` : `lines ${start + 1}-${start + shown}`;
}

/** `FILE:LINE:COLUMN: TEXT` for each match, after the definition that it is in. */
function fileText({ file, lines }: types.FileMatches): string {
  let last: string | undefined;
  return lines
    .flatMap((line) => {
      const head = headText(line);
      const isNew = head !== last;
      last = head;
      return [
        ...(isNew && head !== undefined ? [head] : []),
        `${fileName(file)}:${line.line}:${line.column}: ${oneLine(line.text, MAX_LINE)}`,
      ];
    })
    .join("\n");
}

/** The definition that a line is in, unless the line is its first one. */
function headText({ line, definition }: types.FoundLine): string | undefined {
  if (definition === undefined || definition.line === line) return undefined;
  return `in ${oneLine(definition.text, MAX_HEAD)} (line ${definition.line})`;
}

const CUTS = {
  time: "the search took 20 s",
  files: "there are more than 5000 files",
  characters: "the files have more than 200 million characters",
} as const;

function lookedAt(found: types.FoundInSources): string {
  const { files, unreadFiles, folders, cut, unreadableFolders } = found;
  const names = firstTexts(folders, MAX_FOLDERS, ({ folder, count }) => `${fileName(folder)} ${count}`, "folder");
  const where = names.length === 0 ? "" : `: ${names.join(", ")}`;
  const unread = unreadFiles > 0 ? ` (${unreadFiles} could not be read)` : "";
  return [
    `Looked at ${howMany(files, "file")}${unread}${where}`,
    ...(unreadableFolders > 0 ? [`${howMany(unreadableFolders, "folder")} could not be read.`] : []),
    ...linkLines(found),
    ...(cut === undefined
      ? []
      : [`Not all files were searched: ${CUTS[cut]}. Other files may match, too: pass a folder with fewer files.`]),
  ].join("\n");
}

function linkLines({ linksOutside, linkTargets }: types.FoundInSources): string[] {
  if (linksOutside === 0) return [];
  const targets = linkTargets.map((target) => fileName(target)).join(" or ");
  return [
    linksOutside === 1
      ? `1 link leads out of the folder: not followed. To search there, pass its target as folder: ${targets}`
      : `${linksOutside} links lead out of the folder: not followed. To search there, pass a target as folder, such as ${targets}`,
  ];
}

function linesData(found: Parameters<typeof foundLinesAnswer>[0]): JsonObject {
  if (found.status !== "found") return { ...found };
  const { status, count, matchingFiles, files, unreadFiles, matches, cut, unreadableFolders, linksOutside } = found;
  return {
    status,
    count,
    matchingFiles,
    files,
    unreadFiles,
    ...(unreadableFolders > 0 ? { unreadableFolders } : {}),
    ...(linksOutside > 0 ? { linksOutside } : {}),
    cut,
    matches: matches.flatMap(({ file, lines }) => lines.map(({ line, column }) => ({ file, line, column }))),
  };
}

const MAX_LINES = 300;

export const searchSource = defineTool({
  name: "search-source",
  family: "code",
  needs: "runtime",
  effect: "reads",
  title: "Search source",
  description:
    "Find text in the program's source: matching lines with file, line and definition, in the files of everything that is loaded, of one system, or of a folder. Ignores case. Says where it looked.",
  input: () =>
    z.strictObject({
      pattern: z.string().min(1).describe("Text within a line, e.g. (sort-mail"),
      regexp: z.boolean().optional().describe("The pattern is a regular expression, e.g. \\bset[fq] \\*"),
      system: z.string().min(1).optional().describe("Only files of this ASDF system"),
      folder: z.string().min(1).optional().describe("Only Lisp files below this folder, loaded or not"),
      code: z.boolean().optional().describe("Not in strings and comments"),
      exclude: z.string().min(1).optional().describe("Not below this folder"),
      start: z.int().min(0).optional().describe("Skip this many matches"),
      limit: z.int().min(1).max(MAX_LINES).optional().describe("Most lines to show (default 50)"),
    }),
  async run({ pattern, regexp = false, system, folder, start = 0, limit, code, exclude }, { session, signal, guide }) {
    if (system !== undefined && folder !== undefined)
      throw misused("search-source", "Give a system or a folder, not both.", "Leave out one of them.");
    const { client } = await session();
    const found = await client.code.searchSource(pattern, {
      regexp,
      system,
      folder,
      start,
      limit,
      code,
      exclude,
      signal,
    });
    if (found.status === "bad-pattern") throw patternRefusal("search-source", found.reason);
    return foundLinesAnswer(found, { pattern, regexp, start }, guide);
  },
});
