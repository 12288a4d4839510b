import type { types } from "swank-client";
import * as z from "zod";
import { answerWith, type JsonObject } from "../base/answer.js";
import { defineTool } from "../call/tool.js";
import { cutName, fairShare, fileName, fitting, howMany, plural } from "../text/cut.js";

export const NO_DEFINITIONS = "No definitions in session.";

const DEFINITIONS_META = "swank-mcp/definitions";

const MAX_NAMES = 200;

const MAX_NAME = 300;

const MAX_COST = 21_000;

export const LISTED_TYPES = [
  "function",
  "generic-function",
  "method",
  "macro",
  "variable",
  "constant",
  "class",
  "structure",
  "condition",
  "type",
  "symbol-macro",
  "compiler-macro",
  "setf-expander",
  "method-combination",
  "package",
  "file",
] as const satisfies readonly (types.DefinitionKind | "file")[];

/** A type of definition. Every kind of definition is one of them. */
export type ListedType = (typeof LISTED_TYPES)[number] & (types.DefinitionKind | "file");

interface Section {
  readonly type: ListedType;
  readonly lines: readonly string[];
  readonly left: number;
}

/** The answer of list-definitions: a section for each type. If the requested type is empty, also the numbers of the other types. */
export function definitionsBlocks(all: types.Definitions, type: ListedType | undefined): readonly string[] {
  const shown = shownSections(all, type);
  const text = shown.length === 0 ? NO_DEFINITIONS : shown.map(sectionText).join("\n\n");
  const others = shown.length === 0 ? LISTED_TYPES.flatMap((other) => counted(linesOf(all, other).length, other)) : [];
  return others.length === 0 ? [text] : [text, `Of other types: ${others.join(", ")}`];
}

function definitionsData({ definitions, loaded }: types.Definitions, type: ListedType | undefined): JsonObject {
  return {
    definitions: definitions
      .filter(({ kind }) => type === undefined || kind === type)
      .map(({ kind, name, changed, redefined }) => ({ kind, name, changed, redefined })),
    loaded: type === undefined || type === "file" ? loaded.map(loadedData) : [],
  };
}

/** The sections that are not empty, of all types or one, cut so that all of them fit together. */
function shownSections(all: types.Definitions, type: ListedType | undefined): readonly Section[] {
  const wanted = LISTED_TYPES.filter((each) => type === undefined || each === type)
    .map((each) => ({ type: each, lines: linesOf(all, each) }))
    .filter(({ lines }) => lines.length > 0);
  const share = fairShare(
    wanted.map(({ lines }) => lines.reduce((sum, line) => sum + line.length + 1, 0)),
    MAX_COST,
  );
  return wanted.map(({ type: each, lines }) => {
    const shown = fitting(lines.slice(0, MAX_NAMES), share, (line) => line.length + 1);
    return { type: each, lines: shown, left: lines.length - shown.length };
  });
}

function linesOf({ definitions, loaded }: types.Definitions, type: ListedType): readonly string[] {
  if (type === "file") return loaded.map(loadedLine);
  return definitions.filter(({ kind }) => kind === type).map(definitionLine);
}

function definitionLine({ name, redefined, changed }: types.Definition): string {
  const marks = [...(redefined ? ["redefined"] : []), ...(changed ? ["changed later by other code"] : [])];
  return marked(cutName(name, MAX_NAME), marks);
}

export function loadedData({ kind, name, times }: types.Loaded): JsonObject {
  return { kind, name: cutName(name, MAX_NAME), times };
}

export function loadedLine({ kind, name, times }: types.Loaded): string {
  const marks = [...(kind === "system" ? ["system"] : []), ...(times > 1 ? [`loaded ${times} times`] : [])];
  return marked(fileName(name, MAX_NAME), marks);
}

function marked(text: string, marks: readonly string[]): string {
  return marks.length === 0 ? text : `${text} (${marks.join(", ")})`;
}

function sectionText({ type, lines, left }: Section): string {
  return [
    `[${several(type)}]`,
    ...lines,
    ...(left > 0 ? [`... ${left} more ${plural(left, type, several(type))}`] : []),
  ].join("\n");
}

function counted(count: number, type: ListedType): string[] {
  return count === 0 ? [] : [howMany(count, type, several(type))];
}

function several(type: ListedType): string {
  return type === "class" ? "classes" : `${type}s`;
}

export const listDefinitions = defineTool({
  name: "list-definitions",
  family: "core",
  needs: "runtime",
  effect: "reads",
  title: "List definitions",
  description: "List this session's definitions by type, in order, redefinitions marked, and loaded files.",
  input: () =>
    z.strictObject({
      type: z.enum(LISTED_TYPES).optional().describe("List only this type"),
    }),
  async run({ type }, { session, signal }) {
    const { client } = await session();
    const all = await client.definitions({ signal });
    return answerWith(definitionsBlocks(all, type), DEFINITIONS_META, definitionsData(all, type));
  },
});
