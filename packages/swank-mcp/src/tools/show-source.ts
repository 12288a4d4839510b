import type { types } from "swank-client";
import * as z from "zod";
import type { JsonObject, ToolAnswer, ToolGuide } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { defineTool, type ToolContext } from "../call/tool.js";
import {
  type AskedName,
  answerForEach,
  MAX_NAME,
  missingAnswer,
  missingFileAnswer,
  missingNameAnswer,
  numberedLines,
  oneOrSeveral,
  similarNames,
  similarNamesHint,
} from "../report/names.js";
import { cutName, cutText, fileName, firstOf, howMany, more, oneLine } from "../text/cut.js";

const SOURCE_META = "swank-mcp/source";

/** Most that the texts of definitions may cost together, and most definitions that are listed without text. */
const MAX_TEXT = 20_000;

const MAX_LISTED = 40;

const MAX_DATA = 200;

const STATES: Record<types.TextState, string> = {
  loaded: "as loaded",
  "as-loaded": "the text that was loaded; the file has changed since",
  "same-form": "the file has changed since it was loaded, but not this form, apart from comments and layout",
  "same-length": "the file has changed since it was loaded, but not the length of this form",
  changed: "the file has changed since it was loaded: this is its text now; the loaded text is not recorded",
  unknown: "it is not known whether the file has changed since it was loaded",
  recorded: "the form that Lisp recorded; the file has changed or cannot be read",
  evaluated: "evaluated code",
  gone: "the file has changed, and does not define this any more",
  unreadable: "the image cannot read the file",
  unrecorded: "Lisp has not recorded where it came from",
};

function shownSourceAnswer(shown: types.ShownSource, asked: AskedName, guide: ToolGuide): ToolAnswer {
  if (shown.status === "package-not-found" || shown.status === "symbol-not-found")
    return missingNameAnswer(shown, asked, SOURCE_META, guide);
  const meta = { [SOURCE_META]: sourcesData(shown) };
  const { name, definitions, leftOut } = shown;
  if (shown.status === "no-such-method") return missingMethodAnswer(shown, asked, meta, guide);
  if (isUndefined(shown)) {
    const blocks = [`${cutName(name, MAX_NAME)} has no definition.`, ...similarNamesHint(asked.similar)];
    return missingAnswer({ what: "name", blocks, meta }, guide);
  }
  const texts = [
    ...entryTexts(definitions),
    ...listed(definitions.filter(isBare), leftOut),
    ...familiesText(shown.families, name),
  ];
  return { blocks: [texts.join("\n\n")], isError: false, meta };
}

/** Whether the symbol of a name exists, but nothing is defined by that name. */
function isUndefined(shown: types.ShownSource): boolean {
  return shown.status === "found" && shown.definitions.length === 0;
}

function missingMethodAnswer(
  { name, definitions, leftOut }: types.FoundDefinitions,
  asked: AskedName,
  meta: JsonObject,
  guide: ToolGuide,
): ToolAnswer {
  const shownName = cutName(name, MAX_NAME);
  if (definitions.length === 0)
    return missingAnswer({ what: "name", blocks: [`${shownName} has no methods.`], meta }, guide);
  const text = [
    `${shownName} has no method ${cutName(asked.name.trim(), MAX_NAME)}. Its methods:`,
    ...listed(definitions, leftOut),
  ].join("\n");
  return missingAnswer({ what: "method", blocks: [text], meta }, guide);
}

/** Whether the image has no text of a definition, so that it is only listed. */
function isBare({ state }: types.DefinitionText): boolean {
  return state === "gone" || state === "unreadable" || state === "unrecorded";
}

function listed(definitions: readonly types.DefinitionText[], leftOut: number): string[] {
  const { shown, left } = firstOf(definitions, MAX_LISTED);
  const rest = left + leftOut > 0 ? [more(left + leftOut, "definition")] : [];
  const lines = [...shown.map(headingOf), ...rest];
  return lines.length === 0 ? [] : [lines.join("\n")];
}

/** What is not shown of families of methods, and how to ask for it, as one paragraph. */
function familiesText(families: readonly types.MethodFamily[], name: string): string[] {
  if (families.length === 0) return [];
  const { shown, left } = firstOf(families, MAX_LISTED);
  const lines = shown.map((family) => {
    const names = family.names.map((each) => cutName(each)).join(", ");
    const others = family.count - family.names.length;
    return `${family.count} like ${cutName(family.shown)}: ${names}${others > 0 ? ` and ${others} more` : ""}`;
  });
  const count = families.reduce((sum, family) => sum + family.count, 0);
  const title = `${howMany(count, "method is", "methods are")} left out, because a related one is shown:`;
  const rest = left > 0 ? [`${left} more families`] : [];
  const ask = `Ask for one by its name as written here, or for all with the same qualifiers: (method ${cutName(name, MAX_NAME)}), (method ${cutName(name, MAX_NAME)} :around).`;
  return [[title, ...lines, ...rest, ask].join("\n")];
}

/** An entry for each definition that has a text, as long as there is room. Definitions that one form makes show it once. */
function entryTexts(definitions: readonly types.DefinitionText[]): string[] {
  const seen = new Set<string>();
  let room = MAX_TEXT;
  return definitions.flatMap((definition) => {
    if (isBare(definition)) return [];
    const { text = "", state, file, line, column } = definition;
    const form = line === undefined ? text : `${file}:${line}:${column}`;
    if (seen.has(form)) return [`${headingOf(definition)}: the same form`];
    if (text === "" || room <= 0) return [`${headingOf(definition)}: left out; ask for it alone`];
    seen.add(form);
    const shown = cutText(withNumbers(text, state === "recorded" || state === "as-loaded" ? undefined : line), room);
    room -= shown.length;
    return [`${headingOf(definition)}\n${shown}`];
  });
}

function withNumbers(text: string, line: number | undefined): string {
  const lines = text.split("\n").map((each) => each.replace(/\r$/, ""));
  return (line === undefined ? lines : numberedLines(lines, line)).join("\n");
}

/** `FILE:LINE:COLUMN kind NAME (what the text is)` */
function headingOf({ kind, name, state, file, line, column, origin }: types.DefinitionText): string {
  const place =
    file === undefined ? "" : `${[fileName(file), line, column].filter((part) => part !== undefined).join(":")} `;
  const isMade = kind === "generic-function" && state === "unrecorded";
  const source = origin === undefined ? STATES[state] : `${STATES[state]}, ${origin}`;
  const shownName = cutName(name, MAX_NAME);
  return `${place}${kind === "method" ? "" : `${kind.replace("-", " ")} `}${shownName} (${isMade ? "made by its methods" : source})`;
}

function sourcesData({ status, name, definitions, leftOut, families }: types.FoundDefinitions): JsonObject {
  const shown = definitions.slice(0, MAX_DATA).map(({ text, ...place }) => place);
  const left = leftOut + definitions.length - shown.length;
  return { status, name, definitions: shown, left_out: left, ...(families.length === 0 ? {} : { families }) };
}

const FILE_META = "swank-mcp/file";

const MAX_HEAD = 100;

const MAX_RANGE = 500;

/** The answer of show-source for a file. @param line - The line that the caller asked for; `undefined` if several. */
function shownFileAnswer(shown: types.ShownFile, line: number | undefined, guide: ToolGuide): ToolAnswer {
  const meta = { [FILE_META]: fileData(shown) };
  switch (shown.status) {
    case "found":
      return {
        blocks: [
          `${heading(shown, line)}\n${cutText(numberedLines(shown.lines, shown.first, line).join("\n"))}`.trimEnd(),
        ],
        isError: false,
        meta,
      };
    case "file-unreadable":
      return {
        blocks: [`The image cannot read ${fileName(shown.file)}: it is too large, or may not be read.`],
        isError: true,
        meta,
      };
    case "file-not-found":
      return missingFileAnswer(shown, FILE_META, guide);
  }
}

function heading({ file, count, first, lines, definition, changed }: types.FoundLines, line = 1): string {
  const beyond = line > Math.max(count, 1) ? `; there is no line ${line}, so these are the last` : "";
  const place = lines.length === 0 ? "no lines" : `lines ${first}-${first + lines.length - 1} of ${count}`;
  const within = definition === undefined ? "" : `, in ${oneLine(definition.text, MAX_HEAD)} (line ${definition.line})`;
  return `${fileName(file)}: ${place}${beyond}${within}${changed ? "; the file has changed since it was loaded" : ""}`;
}

function fileData(shown: types.ShownFile): JsonObject {
  if (shown.status !== "found") return { ...shown };
  const { file, count, first, lines, definition, changed } = shown;
  return { file, count, first, last: first + lines.length - 1, definition, changed };
}

export const showSource = defineTool({
  name: "show-source",
  family: "code",
  needs: "runtime",
  effect: "reads",
  title: "Show source",
  description:
    "Read a definition before you call or change it: the text of all definitions of a name, methods too, with file and line. The text is that of the file if the file is as it was loaded, otherwise the recorded form; the answer says which. Or lines of a file.",
  input: () =>
    z.strictObject({
      name: oneOrSeveral()
        .optional()
        .describe("As code writes it: run, app:run, (setf size), (method area (circle)); several with spaces"),
      package: z.string().min(1).optional().describe("Package of the name (default: the current one)"),
      file: z.string().min(1).optional().describe("Instead of a name: a source file"),
      line: z.int().min(1).optional().describe("The line of it to show (default 1)"),
      context: z.int().min(0).max(500).optional().describe("Lines shown before and after it (default 20)"),
      from: z.int().min(1).optional(),
      to: z.int().min(1).optional().describe("Instead of line: the lines from..to of it"),
    }),
  async run({ name, package: packageName, file, line, context, from, to }, tools) {
    if ((name === undefined) === (file === undefined)) throw misused("Give either a name or a file.");
    const places = [line, context, from, to].filter((place) => place !== undefined);
    if (file === undefined) {
      if (places.length > 0) throw misused('"line", "context", "from" and "to" belong to a file.');
      return answerForEach(name ?? "", SOURCE_META, async (each) => {
        if (each.trim() === "") throw misused("The name is blank.");
        return showName(each, packageName, tools);
      });
    }
    if (from === undefined && to === undefined) return showLines(file, { line, context }, tools);
    if (line !== undefined || context !== undefined) throw misused("Give line and context, or from and to.");
    const first = from ?? 1;
    const last = to ?? first + MAX_RANGE - 1;
    if (last < first) throw misused("The lines end before they begin.");
    if (last - first >= MAX_RANGE) throw misused(`At most ${MAX_RANGE} lines are shown at once.`);
    return showRange(file, first, last, tools);
  },
});

async function showName(name: string, packageName: string | undefined, { session, signal, guide }: ToolContext) {
  const lisp = await session();
  const { client } = lisp;
  const shown = await client.code.showSource(name, { package: packageName, families: true, signal });
  const similar = await similarNames(lisp, name, shown, isUndefined(shown), packageName);
  return shownSourceAnswer(shown, { name, similar }, guide);
}

async function showLines(
  file: string,
  { line = 1, context }: { readonly line: number | undefined; readonly context: number | undefined },
  { session, signal, guide }: ToolContext,
) {
  const { client } = await session();
  return shownFileAnswer(await client.code.showFile(file, { line, context, signal }), line, guide);
}

/** Shows lines, the first and the last included. */
async function showRange(file: string, first: number, last: number, { session, signal, guide }: ToolContext) {
  const { client } = await session();
  const context = Math.ceil((last - first) / 2);
  const shown = await client.code.showFile(file, { line: first + context, context, signal });
  if (shown.status !== "found") return shownFileAnswer(shown, first, guide);
  if (first > shown.count) throw misused(`${fileName(shown.file)} has ${howMany(shown.count, "line")}.`);
  const lines = shown.lines.slice(Math.max(0, first - shown.first), last - shown.first + 1);
  return shownFileAnswer(
    { ...shown, first: Math.max(first, shown.first), lines, definition: undefined },
    undefined,
    guide,
  );
}

function misused(problem: string): Refusal {
  return new Refusal("INVALID_ARGUMENTS", `show-source: ${problem}`, {
    remedy: "Correct this and call again. show-source takes a name, or a file with line and context.",
  });
}
