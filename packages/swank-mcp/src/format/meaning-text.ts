import type { DefinitionSource, Meaning } from "../image/lisp-port.js";
import { cutName, cutText, firstOf, more } from "../text/cut.js";

/** Longest name of a symbol. */
export const MAX_NAME = 500;
/** Most superclasses or slots. */
export const MAX_LISTED = 50;

/** The contract's type for each kind (describe-symbol-tool, "Symbol Type Classification"). */
const TYPES: Record<Meaning["kind"], string> = {
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

/** A more exact name for kinds that share a type. */
const KINDS: Partial<Record<Meaning["kind"], string>> = {
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

/**
 * One meaning of a symbol (contract describe-symbol-tool, "Success Response"). The contract's fields come in its order; other fields
 * precede the documentation.
 *
 * @param value - Printed value of the symbol; `undefined` to show none.
 */
export function meaningText(meaning: Meaning, value: string | undefined): string {
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

function detailLines(meaning: Meaning): string[] {
  if ("methods" in meaning) return field("Methods", meaning.methods?.toString());
  if ("slots" in meaning) return [...names("Superclasses", meaning.superclasses), ...names("Slots", meaning.slots)];
  return field("Expansion", "expansion" in meaning ? meaning.expansion : undefined);
}

function names(field: string, listed: readonly string[]): string[] {
  const { shown, left } = firstOf(listed, MAX_LISTED);
  const words = [...shown.map((name) => cutName(name)), ...(left > 0 ? [more(left, "name")] : [])];
  return listed.length === 0 ? [] : [`  ${field}: ${words.join(", ")}`];
}

function documentationLines(documentation: string | undefined): string[] {
  if (documentation === undefined) return [];
  return ["  Documentation:", ...documentation.split("\n").map((line) => (line === "" ? "" : `    ${line}`))];
}

/** A source as path and line, or as path and offset if no line is known; `undefined` if only the path is known. The second block says which. */
function sourceText(source: DefinitionSource): string | undefined {
  if (source.kind === "evaluation") return `${source.evaluation}:${source.position}`;
  const place = source.line ?? source.position;
  return place === undefined ? undefined : `${source.file}:${place}`;
}
