import { outlineCode, type types } from "swank-client";
import * as z from "zod";
import { EVERY_TOOL, type JsonObject, type ToolAnswer, type ToolGuide } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import type { LispSession } from "../session/image.js";
import type { LispClient } from "../session/lisp-port.js";
import {
  cutName,
  cutText,
  cutTexts,
  fileName,
  firstOf,
  firstTexts,
  more,
  nearestOnes,
  oneLine,
  plural,
  shownName,
} from "../text/cut.js";
import { oddCharacterHint } from "../text/visible.js";
import { shownValue } from "./report.js";
import { methodLines, methodTexts } from "./stop.js";

export const MAX_NAME = 500;

const MAX_LISTED = 50;

/** The contract's type for each kind (describe-symbol-tool, "Symbol Type Classification"). */
const TYPES: Record<types.Meaning["kind"], string> = {
  function: "FUNCTION",
  "generic-function": "GENERIC-FUNCTION",
  macro: "MACRO",
  "special-operator": "FUNCTION",
  "setf-expander": "MACRO",
  class: "CLASS",
  structure: "CLASS",
  condition: "CLASS",
  "built-in-class": "CLASS",
  type: "SYMBOL",
  variable: "VARIABLE",
  constant: "VARIABLE",
  "undeclared-variable": "VARIABLE",
  "symbol-macro": "SYMBOL",
};

const KINDS: Partial<Record<types.Meaning["kind"], string>> = {
  "special-operator": "special operator",
  "setf-expander": "setf expander",
  structure: "structure",
  condition: "condition",
  "built-in-class": "built-in class",
  type: "type",
  constant: "constant",
  "undeclared-variable": "undeclared variable",
  "symbol-macro": "symbol macro",
};

/** One meaning of a symbol (contract describe-symbol-tool, "Success Response"). Fields that the contract lacks precede the documentation. */
function meaningText(meaning: types.Meaning, value: string | undefined): string {
  return [
    `${cutName(meaning.name, MAX_NAME)} [${TYPES[meaning.kind]}]`,
    ...field("Arglist", "arglist" in meaning ? meaning.arglist : undefined),
    ...field("Value", value === undefined ? undefined : cutText(value)),
    ...field("Kind", KINDS[meaning.kind]),
    ...detailLines(meaning),
    ...documentationLines(meaning.documentation),
    ...field("Source", meaning.source && sourceText(meaning.source)),
  ].join("\n");
}

function field(name: string, text: string | undefined): string[] {
  return text === undefined ? [] : [`  ${name}: ${text}`];
}

function detailLines(meaning: types.Meaning): string[] {
  if ("methods" in meaning) return field("Methods", meaning.methods?.toString());
  if ("slots" in meaning) return [...names("Superclasses", meaning.superclasses), ...names("Slots", meaning.slots)];
  return field("Expansion", "expansion" in meaning ? meaning.expansion : undefined);
}

function names(field: string, listed: readonly string[]): string[] {
  const words = firstTexts(listed, MAX_LISTED, cutName, "name");
  return listed.length === 0 ? [] : [`  ${field}: ${words.join(", ")}`];
}

function documentationLines(documentation: string | undefined): string[] {
  if (documentation === undefined) return [];
  return ["  Documentation:", ...documentation.split("\n").map((line) => (line === "" ? "" : `    ${line}`))];
}

/** A source as path and line, or as path and offset if no line is known; `undefined` if only the path is known. The second block says which. */
function sourceText(source: types.DefinitionSource): string | undefined {
  if (source.kind === "evaluation") return `${source.evaluation}:${source.position}`;
  const place = source.line ?? source.position;
  return place === undefined ? undefined : `${source.file}:${place}`;
}

const MAX_LINES = 20;

/** Lines that help an agent after a symbol's description. The contract does not define them. */
function symbolHints(found: types.FoundSymbol, asked: string, guide: ToolGuide): readonly string[] {
  const { meanings } = found;
  const hints = [
    ...accessHint(found, asked),
    ...meanings.flatMap((meaning) => valueHint(meaning, guide)),
    ...meanings.flatMap(({ source }) => (source === undefined ? [] : sourceHint(source))),
    ...(meanings.length === 0 ? ["This symbol has no definition."] : []),
  ];
  return [...new Set(hints)];
}

/** Code cannot write `package:name` for a symbol that is not exported. */
function accessHint({ access, name }: types.FoundSymbol, asked: string): string[] {
  const single = /^[^:|\\]+:[^:]/.test(asked.trim());
  return single && access === "internal" ? [`The symbol is not exported: code must write ${name}.`] : [];
}

/** Says what is wrong with a name that no symbol can have without bars. The image takes all after the first marker for the symbol's name. */
function markerHint(asked: string): string[] {
  const unescaped = asked.replace(/\\.|\|[^|]*\|/gs, "x");
  if (!/:::|:[^:]+:/.test(unescaped)) return [];
  return [
    "The name has too many package markers: write package:name or package::name, and vertical bars around a name that contains colons, as in package::|a:b|.",
  ];
}

function valueHint(meaning: types.Meaning, guide: ToolGuide): string[] {
  if (!("value" in meaning)) return [];
  if (meaning.value === undefined) return ["The variable is unbound."];
  const { leftOut } = shownValue(meaning.value);
  return leftOut === undefined
    ? []
    : [`The value is cut: ${leftOut}.${guide.offers("evaluate-lisp") ? " evaluate-lisp shows parts of it." : ""}`];
}

function sourceHint(source: types.DefinitionSource): string[] {
  if (source.kind === "evaluation") return [`Defined by evaluated code:\n${firstLines(source.form)}`];
  if (source.line !== undefined) return [];
  return source.position === undefined
    ? [`Source file: ${source.file}`]
    : [
        `${source.position} is the character offset in ${source.file}; its line is unknown, because the image cannot read the file.`,
      ];
}

function firstLines(form: string): string {
  const lines = cutText(form).split("\n");
  const left = lines.length - MAX_LINES;
  return left > 0 ? `${lines.slice(0, MAX_LINES).join("\n")}\n... ${left} more lines` : lines.join("\n");
}

const SYMBOL_META = "swank-mcp/symbol";

interface SymbolAdvice {
  readonly guide?: ToolGuide;
  readonly similar?: readonly string[];
  /** The arguments of a call whose methods were asked for. */
  readonly args?: readonly string[];
}

/** The answer of describe-symbol: the contract's text, and a second block with hints, if there are any. @param asked - The name that the caller gave. */
export function symbolBlocks(
  description: types.SymbolDescription,
  asked: string,
  { guide = EVERY_TOOL, similar = [], args = [] }: SymbolAdvice = {},
): readonly string[] {
  if (description.status !== "found") return notFoundBlocks(description, asked, similar);
  return [
    foundText(description),
    ...block([...methodLines(description, args), ...symbolHints(description, asked, guide)]),
  ];
}

/** The answer about a name that is not in the image: the contract's text, and a second block with the nearest names, if there are any. */
function notFoundBlocks(description: types.NameNotFound, asked: string, similar: readonly string[]): readonly string[] {
  switch (description.status) {
    case "package-not-found":
      return [
        `Package ${shownName(description.package)} not found`,
        ...block([
          ...oddHint(description),
          ...markerHint(asked),
          ...similarNamesHint(description.similar, "Packages with similar names"),
        ]),
      ];
    case "symbol-not-found":
      return [
        `Symbol ${shownName(description.name)} not found in package ${shownName(description.package)} (status: NIL)`,
        ...block([
          ...oddHint(description),
          ...markerHint(asked),
          ...elsewhereHint(description),
          ...similarNamesHint(similar),
        ]),
      ];
  }
}

export function symbolMeta(description: types.SymbolDescription, facts: JsonObject = {}): JsonObject {
  if (description.status !== "found") return { [SYMBOL_META]: { ...notFoundData(description), ...facts } };
  const { meanings, name, package: home, ...rest } = description;
  return {
    [SYMBOL_META]: {
      ...rest,
      name: cutName(name, MAX_NAME),
      package: cutName(home),
      meanings: meanings.map(meaningData),
      ...facts,
    },
  };
}

function meaningData(meaning: types.Meaning): JsonObject {
  const value = "value" in meaning && meaning.value ? shownValue(meaning.value) : undefined;
  const call = "call" in meaning && meaning.call?.kind === "methods" ? methodTexts(meaning.call.methods) : undefined;
  return {
    ...meaning,
    call,
    name: cutName(meaning.name, MAX_NAME),
    ...("slots" in meaning
      ? { ...namesData("superclasses", meaning.superclasses), ...namesData("slots", meaning.slots) }
      : {}),
    value: value === undefined ? undefined : { text: value.text, left_out: value.leftOut },
  };
}

function notFoundData(description: types.NameNotFound): JsonObject {
  if (description.status === "package-not-found")
    return { ...description, package: shownName(description.package), similar: cutNames(description.similar) };
  const { name, package: home, elsewhere } = description;
  return { ...description, name: shownName(name), package: shownName(home), elsewhere: cutNames(elsewhere) };
}

function cutNames(names: readonly string[]): string[] {
  return names.map((name) => cutName(name, MAX_NAME));
}

function namesData(field: string, names: readonly string[]): JsonObject {
  const { shown, left } = firstOf(names, MAX_LISTED);
  return { [field]: shown.map((name) => cutName(name)), ...(left > 0 ? { [`${field}_left_out`]: left } : {}) };
}

function block(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [lines.join("\n")];
}

/** An entry for each meaning. The first meaning under the symbol's own name also shows the value, if there is one. */
function foundText({ name, meanings }: types.FoundSymbol): string {
  const [value] = meanings.flatMap((meaning) =>
    "value" in meaning && meaning.value ? [shownValue(meaning.value).text] : [],
  );
  const own = meanings.filter((meaning) => meaning.name === name);
  const entries = meanings.map((meaning) => meaningText(meaning, meaning === own[0] ? value : undefined));
  return [...(own.length === 0 ? [`${cutName(name, MAX_NAME)} [SYMBOL]`] : []), ...entries].join("\n\n");
}

/** The line about a character in a name that nobody sees, or takes for another one. */
export function oddHint({ oddCharacter }: { readonly oddCharacter?: string | undefined }): string[] {
  return oddCharacter === undefined ? [] : [oddCharacter];
}

export function similarNamesHint(similar: readonly string[], what = "Similar names"): string[] {
  return similar.length === 0 ? [] : [`${what}: ${similar.map((name) => cutName(name)).join(", ")}`];
}

function elsewhereHint({ elsewhere, more: left }: { readonly elsewhere: readonly string[]; readonly more: number }) {
  if (elsewhere.length === 0) return [];
  return [`In other packages: ${[...cutNames(elsewhere), ...(left > 0 ? [more(left, "symbol")] : [])].join(", ")}`];
}

/** What a caller can name that may not exist, and what to do then. */
const NEXT = {
  name: "Correct the name or its package. apropos-search finds names by a part.",
  method: "Name one of these.",
  package: "Correct the name, or load the system that defines the package with load-system.",
  file: "Give the path of a file that exists, absolute or relative to the image's directory.",
  newFile: "To append to a new file, create it first, with its in-package form.",
  folder: "Give the path of a folder that exists, absolute or relative to the image's directory.",
  system: "Correct the name, or load the system with load-system.",
  test: "Correct the name, or load the system that defines the test with load-system.",
} as const;

type Nameable = keyof typeof NEXT;

interface Missing {
  readonly what: Nameable;
  readonly blocks: readonly string[];
  readonly meta: JsonObject;
}

/**
 * The answer about a thing that the caller named and that does not exist. It is an error, since the call was wrong, and says what to do next.
 * An answer that has found nothing is none.
 */
export function missingAnswer({ what, blocks: [text = "", ...hints], meta }: Missing, guide: ToolGuide): ToolAnswer {
  const hint = [...hints, guide.advise(NEXT[what])].filter((line) => line !== "").join("\n");
  return { blocks: [text, ...(hint === "" ? [] : [hint])], isError: true, meta };
}

export interface AskedName {
  readonly name: string;
  /** Names that are similar to it, if it was not found. */
  readonly similar: readonly string[];
}

/** The answer about a symbol or package that does not exist. @param key - The key of its facts in `_meta`. */
export function missingNameAnswer(
  found: types.NameNotFound,
  { name, similar }: AskedName,
  key: string,
  guide: ToolGuide,
): ToolAnswer {
  const what = found.status === "package-not-found" ? "package" : "name";
  const blocks = notFoundBlocks(found, name, similar);
  return missingAnswer({ what, blocks, meta: { [key]: notFoundData(found) } }, guide);
}

/** The answer about a file that does not exist. @param key - The key of its facts in `_meta`. */
export function missingFileAnswer(
  found: types.FileNotFound,
  key: string,
  guide: ToolGuide,
  what: Nameable = "file",
): ToolAnswer {
  return missingAnswer({ what, blocks: fileBlocks(found), meta: { [key]: found } }, guide);
}

const NO_FILES = { folder: "a folder", special: "a pipe or a device" } as const;

function fileBlocks({ file, similar, reason }: types.FileNotFound): string[] {
  if (reason !== undefined) return [`${fileName(file)} is ${NO_FILES[reason]}, not a file.`];
  const hint = similar.length === 0 ? [] : [`Similar files: ${similar.map((each) => fileName(each)).join(", ")}`];
  return [`The image has no file ${fileName(file)}`, ...oddCharacterHint(file), ...hint];
}

const MAX_HEAD = 100;

/** What is found besides the form that Lisp has loaded from the file. */
const STATES: Partial<Record<types.TextState, string>> = {
  changed: "the file has changed since it was loaded",
  "as-loaded": "the file has changed since it was loaded",
  recorded: "the file has changed or cannot be read",
  gone: "the file has changed, and does not define this any more",
  unreadable: "the image cannot read the file",
};

/** `FILE:LINE:COLUMN: FIRST LINE OF THE FORM  [further lines that use the name; other notes; `facts`]` */
export function definitionLine(
  { kind, name, state, head, uses, file, line, column, origin }: types.Reference,
  facts: readonly string[] = [],
): string {
  const source = fileName(file ?? origin ?? "no place recorded");
  const places = [source, line, column].filter((part) => part !== undefined).join(":");
  const notes = [
    ...(head === undefined || namesDefinition(head, kind, name) ? [] : [cutName(name, MAX_NAME)]),
    ...(uses.length > 0 ? [`${plural(uses.length, "line")} ${uses.join(", ")}`] : []),
    ...(STATES[state] === undefined ? [] : [STATES[state]]),
    ...facts,
  ];
  const form = head === undefined ? cutName(name, MAX_NAME) : oneLine(head, MAX_HEAD);
  return `${places}: ${form}${notes.length === 0 ? "" : `  [${notes.join("; ")}]`}`;
}

/** Whether the first line of a form shows the name of the definition that it makes. */
function namesDefinition(head: string, kind: types.Reference["kind"], name: string): boolean {
  if (kind === "code") return true;
  if (kind === "method") return head.startsWith("(defmethod");
  const [bare = name] = /[^\s:()]+(?=\)?$)/.exec(name) ?? [];
  return head.toLowerCase().includes(bare.toLowerCase());
}

/** The package and the first two letters of a name: people rarely misspell these. */
const BEGINNING = /^(?:[^\s:|\\]*::?)?[^\s:|\\]{2}/;

const MOST_SIMILAR = 5;

/**
 * Accessible symbols whose names begin alike and are similar, as code writes them, if the image knows no symbol of that name, or `isUndefined` says that
 * it names nothing. @param home - Its package. Default: the session's.
 */
export async function similarNames(
  { client, packageName }: Pick<LispSession, "client" | "packageName">,
  asked: string,
  answer: types.NameNotFound | { readonly status: string },
  isUndefined = false,
  home = packageName,
): Promise<readonly string[]> {
  if ("elsewhere" in answer) return answer.elsewhere.length > 0 ? [] : namesNear(client, asked, answer.package);
  return isUndefined ? namesNear(client, asked, home) : [];
}

async function namesNear(client: LispClient, asked: string, packageName: string): Promise<readonly string[]> {
  const name = asked.trim();
  const [beginning] = BEGINNING.exec(name) ?? [];
  if (beginning === undefined) return [];
  const candidates = await client.completions(beginning, packageName).catch(() => []);
  const others = candidates.filter((candidate) => candidate.toLowerCase() !== name.toLowerCase());
  return nearestOnes(name, others, MOST_SIMILAR);
}

/** Lines with their numbers, as a file viewer shows them. `marked` is the number of a line to mark. */
export function numberedLines(lines: readonly string[], first: number, marked?: number): string[] {
  const width = String(first + lines.length - 1).length + (marked === undefined ? 0 : 1);
  return lines.map((line, index) => {
    const number = first + index;
    const label = number === marked ? `>${number}` : String(number);
    return `${label.padStart(width)}  ${line}`.trimEnd();
  });
}

const MOST_NAMED = 10;

const MOST_COST = 40_000;

/** The schema of a name, or several with white space between them. A list is accepted, too; schemas name one type, because some hosts read no others. */
export function oneOrSeveral() {
  return z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);
}

/** The names in a text as code would write them one after another; the text alone if it is no such list. */
function namesIn(text: string): readonly string[] {
  const { state, forms } = outlineCode(text);
  if (state !== "complete" || forms.length < 2) return [text];
  return forms.map(({ offset, end }) => text.slice(offset, end));
}

/** The answer about a name or, as one, those about several: an error only if each is one. With several, the facts in `_meta` are `answers`, in their order. */
export async function answerForEach(
  given: string | readonly string[],
  key: string,
  answer: (name: string) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const names = typeof given === "string" ? namesIn(given) : given;
  const [first = "", ...others] = names;
  if (others.length === 0) return answer(first);
  if (names.length > MOST_NAMED)
    throw new Refusal("INVALID_ARGUMENTS", `${names.length} names are too many.`, {
      remedy: `Pass at most ${MOST_NAMED} names in one call.`,
    });
  const answers: ToolAnswer[] = [];
  for (const name of names) answers.push(await answer(name));
  return {
    blocks: cutTexts(
      answers.map(({ blocks }) => blocks.join("\n")),
      MOST_COST,
    ),
    isError: answers.every(({ isError }) => isError),
    meta: { [key]: { answers: answers.map(({ meta }) => meta?.[key] ?? null) } },
  };
}
