import { shown } from "./shown.js";

/** Characters that have a meaning in regular expressions and hardly occur in names or code as these characters alone. */
const EXPRESSION = /\.\*|\.\+|\\[bdswBDSW]|\[[^\]]+\]|^\^|\$$|\|/;

/** A pattern in a sentence about a name or a line that contains or matches it, e.g. `contains "map"`. */
export function patternText(pattern: string, regexp: boolean): string {
  return `${regexp ? "matches" : "contains"} ${shown(pattern)}`;
}

/** The same in a sentence with a plural: `contain "map"`. */
export function pluralPatternText(pattern: string, regexp: boolean): string {
  return `${regexp ? "match" : "contain"} ${shown(pattern)}`;
}

/** Advice if a text that was not found may be meant as a regular expression. */
export function expressionHint(pattern: string, regexp: boolean): string[] {
  return !regexp && EXPRESSION.test(pattern) ? ["For a regular expression, pass regexp: true."] : [];
}
