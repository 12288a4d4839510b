import type { FoundSymbol, Meaning, SymbolDescription } from "../lisp-port.js";
import type { JsonObject } from "../tool-answer.js";
import { more } from "./cut.js";
import { meaningText } from "./meaning-text.js";
import { shownName } from "./shown-name.js";
import { symbolHints } from "./symbol-hints.js";

/** Key of a result's `_meta` under which programs find the description as data. */
const SYMBOL_META = "swank-mcp/symbol";

/**
 * What describe-symbol answers: the contract's text, and in a second block what helps besides, if anything does.
 *
 * @param asked - The name as the caller gave it.
 */
export function symbolBlocks(description: SymbolDescription, asked: string): readonly string[] {
  switch (description.status) {
    case "found":
      return [foundText(description), ...block(symbolHints(description, asked))];
    case "package-not-found":
      return [`Package ${shownName(description.package)} not found`, ...block(similarHint(description.similar))];
    case "symbol-not-found":
      return [
        `Symbol ${shownName(description.name)} not found in package ${shownName(description.package)} (status: NIL)`,
        ...block(elsewhereHint(description)),
      ];
  }
}

/** The description as data. */
export function symbolMeta(description: SymbolDescription): JsonObject {
  if (description.status !== "found") return { [SYMBOL_META]: { ...description } };
  return { [SYMBOL_META]: { ...description, meanings: description.meanings.map(meaningData) } };
}

function meaningData(meaning: Meaning): JsonObject {
  const value = "value" in meaning ? meaning.value : undefined;
  return {
    ...meaning,
    source: meaning.source === undefined ? undefined : { ...meaning.source },
    value: value === undefined ? undefined : { text: value.text, left_out: value.leftOut },
  };
}

function block(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [lines.join("\n")];
}

/** An entry for each meaning; the first is that of the symbol as calls use it, and shows the value as well if there is one. */
function foundText({ name, meanings }: FoundSymbol): string {
  const value = meanings.flatMap((meaning) => ("value" in meaning && meaning.value ? [meaning.value.text] : [])).at(0);
  const own = meanings.filter((meaning) => meaning.name === name);
  const entries = meanings.map((meaning) => meaningText(meaning, meaning === own[0] ? value : undefined));
  return [...(own.length === 0 ? [`${name} [SYMBOL]`] : []), ...entries].join("\n\n");
}

function similarHint(similar: readonly string[]): string[] {
  return similar.length === 0 ? [] : [`Packages with names like that: ${similar.join(", ")}`];
}

function elsewhereHint({ elsewhere, more: left }: { readonly elsewhere: readonly string[]; readonly more: number }) {
  if (elsewhere.length === 0) return [];
  const names = [...elsewhere, ...(left > 0 ? [more(left, "symbol")] : [])];
  return [`Elsewhere there is: ${names.join(", ")}`];
}
