import type { FoundSymbol, Meaning, NameNotFound, SymbolDescription } from "../image/lisp-port.js";
import { cutName, firstOf, more } from "../text/cut.js";
import { shownName } from "../text/shown-name.js";
import type { JsonObject } from "../text/tool-answer.js";
import { EVERY_TOOL, type ToolGuide } from "../text/tool-guide.js";
import { MAX_LISTED, MAX_NAME, meaningText } from "./meaning-text.js";
import { methodLines, methodTexts } from "./methods.js";
import { markerHint, symbolHints } from "./symbol-hints.js";
import { shownValue } from "./value-cuts.js";

/** Key of a result's `_meta` under which programs find the description as data. */
const SYMBOL_META = "swank-mcp/symbol";

/** What helps to write the hints. */
export interface SymbolAdvice {
  readonly guide?: ToolGuide;
  /** Names that are similar to one that was not found. */
  readonly similar?: readonly string[];
  /** The arguments of a call whose methods were asked for. */
  readonly args?: readonly string[];
}

/**
 * The answer of describe-symbol: the contract's text, and a second block with hints, if there are any.
 *
 * @param asked - The name that the caller gave.
 */
export function symbolBlocks(
  description: SymbolDescription,
  asked: string,
  { guide = EVERY_TOOL, similar = [], args = [] }: SymbolAdvice = {},
): readonly string[] {
  if (description.status !== "found") return notFoundBlocks(description, asked, similar);
  return [
    foundText(description),
    ...block([...methodLines(description, args), ...symbolHints(description, asked, guide)]),
  ];
}

/**
 * The answer about a name that is not in the image: the contract's text, and a second block with the nearest names, if there are any.
 *
 * @param asked - The name that the caller gave.
 * @param similar - Names that are similar to it.
 */
export function notFoundBlocks(
  description: NameNotFound,
  asked: string,
  similar: readonly string[],
): readonly string[] {
  switch (description.status) {
    case "package-not-found":
      return [
        `Package ${shownName(description.package)} not found`,
        ...block([...oddHint(description), ...markerHint(asked), ...similarHint(description.similar)]),
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

/** The description as data. */
export function symbolMeta(description: SymbolDescription): JsonObject {
  if (description.status !== "found") return { [SYMBOL_META]: notFoundData(description) };
  const { meanings, name, package: home, ...rest } = description;
  return {
    [SYMBOL_META]: {
      ...rest,
      name: cutName(name, MAX_NAME),
      package: cutName(home),
      meanings: meanings.map(meaningData),
    },
  };
}

function meaningData(meaning: Meaning): JsonObject {
  const value = "value" in meaning && meaning.value ? shownValue(meaning.value) : undefined;
  const call = "call" in meaning && meaning.call?.kind === "methods" ? methodTexts(meaning.call.methods) : undefined;
  return {
    ...meaning,
    call,
    name: cutName(meaning.name, MAX_NAME),
    ...("slots" in meaning
      ? { ...namesData("superclasses", meaning.superclasses), ...namesData("slots", meaning.slots) }
      : {}),
    source: meaning.source === undefined ? undefined : { ...meaning.source },
    value: value === undefined ? undefined : { text: value.text, left_out: value.leftOut },
  };
}

/** The reason why a name was not found, as data. */
export function notFoundData(description: NameNotFound): JsonObject {
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
function foundText({ name, meanings }: FoundSymbol): string {
  const value = meanings
    .flatMap((meaning) => ("value" in meaning && meaning.value ? [shownValue(meaning.value).text] : []))
    .at(0);
  const own = meanings.filter((meaning) => meaning.name === name);
  const entries = meanings.map((meaning) => meaningText(meaning, meaning === own[0] ? value : undefined));
  return [...(own.length === 0 ? [`${cutName(name, MAX_NAME)} [SYMBOL]`] : []), ...entries].join("\n\n");
}

/** The line about a character in a name that nobody sees, or takes for another one. */
export function oddHint({ oddCharacter }: { readonly oddCharacter?: string }): string[] {
  return oddCharacter === undefined ? [] : [oddCharacter];
}

/** The line that names what is similar to a name, if anything is. */
export function similarNamesHint(similar: readonly string[]): string[] {
  return similar.length === 0 ? [] : [`Similar names: ${similar.map((name) => cutName(name)).join(", ")}`];
}

function similarHint(similar: readonly string[]): string[] {
  return similar.length === 0
    ? []
    : [`Packages with similar names: ${similar.map((name) => cutName(name)).join(", ")}`];
}

function elsewhereHint({ elsewhere, more: left }: { readonly elsewhere: readonly string[]; readonly more: number }) {
  if (elsewhere.length === 0) return [];
  const names = [...elsewhere.map((name) => cutName(name, MAX_NAME)), ...(left > 0 ? [more(left, "symbol")] : [])];
  return [`In other packages: ${names.join(", ")}`];
}
