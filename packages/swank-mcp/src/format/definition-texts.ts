import type { DefinitionText, FoundDefinitions, ShownSource, TextState } from "../image/lisp-port.js";
import { cutName, cutText, fileName, firstOf, more } from "../text/cut.js";
import type { JsonObject, ToolAnswer } from "../text/tool-answer.js";
import type { ToolGuide } from "../text/tool-guide.js";
import { MAX_NAME } from "./meaning-text.js";
import { type AskedName, missingAnswer, missingNameAnswer } from "./not-found.js";
import { numberedLines } from "./numbered-lines.js";
import { similarNamesHint } from "./symbol-blocks.js";

/** Key of a result's `_meta` under which programs find the places as data. */
const SOURCE_META = "swank-mcp/source";

/** Most that the texts of definitions may cost together, and most definitions that are listed without text. */
const MAX_TEXT = 20_000;
const MAX_LISTED = 40;
/** Most definitions in the data. */
const MAX_DATA = 200;

/** What the text of a definition is, in words. */
const STATES: Record<TextState, string> = {
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

/** The answer of show-source for a name. */
export function shownSourceAnswer(shown: ShownSource, asked: AskedName, guide: ToolGuide): ToolAnswer {
  if (shown.status === "package-not-found" || shown.status === "symbol-not-found")
    return missingNameAnswer(shown, asked, SOURCE_META, guide);
  const meta = { [SOURCE_META]: sourcesData(shown) };
  const { name, definitions, leftOut } = shown;
  if (shown.status === "no-such-method") return missingMethodAnswer(shown, asked, meta, guide);
  if (isUndefined(shown)) {
    const blocks = [`${cutName(name, MAX_NAME)} has no definition.`, ...similarNamesHint(asked.similar)];
    return missingAnswer({ what: "name", blocks, meta }, guide);
  }
  const texts = [...entryTexts(definitions), ...listed(definitions.filter(isBare), leftOut)];
  return { blocks: [texts.join("\n\n")], isError: false, meta };
}

/** Whether the symbol of a name exists, but nothing is defined by that name. */
export function isUndefined(shown: ShownSource): boolean {
  return shown.status === "found" && shown.definitions.length === 0;
}

function missingMethodAnswer(
  { name, definitions, leftOut }: FoundDefinitions,
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
function isBare({ state }: DefinitionText): boolean {
  return state === "gone" || state === "unreadable" || state === "unrecorded";
}

/** Lines for definitions, as one paragraph. */
function listed(definitions: readonly DefinitionText[], leftOut: number): string[] {
  const { shown, left } = firstOf(definitions, MAX_LISTED);
  const rest = left + leftOut > 0 ? [more(left + leftOut, "definition")] : [];
  const lines = [...shown.map(headingOf), ...rest];
  return lines.length === 0 ? [] : [lines.join("\n")];
}

/** An entry for each definition that has a text, as long as there is room. Definitions that one form makes show it once. */
function entryTexts(definitions: readonly DefinitionText[]): string[] {
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
function headingOf({ kind, name, state, file, line, column, origin }: DefinitionText): string {
  const place =
    file === undefined ? "" : `${[fileName(file), line, column].filter((part) => part !== undefined).join(":")} `;
  const isMade = kind === "generic-function" && state === "unrecorded";
  const source = origin === undefined ? STATES[state] : `${STATES[state]}, ${origin}`;
  const shownName = cutName(name, MAX_NAME);
  return `${place}${kind === "method" ? "" : `${kind.replace("-", " ")} `}${shownName} (${isMade ? "made by its methods" : source})`;
}

function sourcesData({ status, name, definitions, leftOut }: FoundDefinitions): JsonObject {
  const shown = definitions.slice(0, MAX_DATA).map(({ text, ...place }) => place);
  return { status, name, definitions: shown, left_out: leftOut + definitions.length - shown.length };
}
