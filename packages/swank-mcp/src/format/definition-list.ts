import type { Definition, DefinitionKind, Definitions } from "../lisp-port.js";
import type { JsonObject } from "../tool-answer.js";
import { more } from "./cut.js";

/** What list-definitions answers when there is nothing to list. */
export const NO_DEFINITIONS = "No definitions in session.";

/** Key of a result's `_meta` under which programs find the definitions as data. */
const DEFINITIONS_META = "swank-mcp/definitions";

/** Most names under one heading. */
const MAX_NAMES = 200;

/** What can be listed, in the order in which it is. */
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
] as const satisfies readonly (DefinitionKind | "file")[];

/** Every kind of definition is one of the types. */
export type ListedType = (typeof LISTED_TYPES)[number] & (DefinitionKind | "file");

interface Section {
  readonly type: ListedType;
  readonly lines: readonly string[];
}

/** What list-definitions answers: a section for each type, and where only one was asked for, what else there is. */
export function definitionsBlocks(all: Definitions, type: ListedType | undefined): readonly string[] {
  const sections = LISTED_TYPES.map((each) => ({ type: each, lines: linesOf(all, each) })).filter(
    ({ lines }) => lines.length > 0,
  );
  const shown = sections.filter((section) => type === undefined || section.type === type);
  const text = shown.length === 0 ? NO_DEFINITIONS : shown.map(sectionText).join("\n\n");
  const others = shown.length === 0 ? sections.map(({ type: other, lines }) => counted(lines.length, other)) : [];
  return others.length === 0 ? [text] : [text, `Of other types: ${others.join(", ")}`];
}

/** The definitions as data. */
export function definitionsMeta({ definitions, loaded }: Definitions): JsonObject {
  return { [DEFINITIONS_META]: { definitions: definitions.map((definition) => ({ ...definition })), loaded } };
}

function linesOf({ definitions, loaded }: Definitions, type: ListedType): readonly string[] {
  if (type === "file") return loaded;
  return definitions.filter(({ kind }) => kind === type).map(definitionLine);
}

function definitionLine({ name, redefined, changed }: Definition): string {
  const marks = [...(redefined ? ["redefined"] : []), ...(changed ? ["changed since by somebody else"] : [])];
  return marks.length === 0 ? name : `${name} (${marks.join(", ")})`;
}

function sectionText({ type, lines }: Section): string {
  const left = lines.length - MAX_NAMES;
  return [`[${plural(type)}]`, ...lines.slice(0, MAX_NAMES), ...(left > 0 ? [more(left, type)] : [])].join("\n");
}

function counted(count: number, type: ListedType): string {
  return `${count} ${count === 1 ? type : plural(type)}`;
}

function plural(type: ListedType): string {
  return type === "class" ? "classes" : `${type}s`;
}
