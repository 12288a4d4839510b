import { Char, codeAt } from "../text/chars.js";
import { skipToken } from "../text/skip.js";

/** The kind of a `#` syntax, and the index after it; -1 for an atom that does not end. */
export interface DispatchSpan {
  readonly kind: "comment" | "atom" | "prefix" | "conditional";
  readonly end: number;
}

/** The chars after `#` and digits that begin a token. Other chars apply to the next datum. */
const TOKEN_CHARS = /[:*<#boxr]/i;

/** The `#` syntax at `offset`. Unknown ones count as prefixes, since most custom syntaxes are. */
export function dispatchAt(text: string, offset: number): DispatchSpan {
  let index = offset + 1;
  while (isDigit(codeAt(text, index))) index++;
  const code = codeAt(text, index);
  switch (code) {
    case Char.bar:
      return { kind: "comment", end: index };
    case Char.backslash:
      return { kind: "atom", end: characterEnd(text, index) };
    case Char.plus:
    case Char.minus:
      return { kind: "conditional", end: index + 1 };
    case Char.open:
    case Char.quotes:
      return { kind: "prefix", end: index };
    default:
      if (TOKEN_CHARS.test(text.charAt(index))) return { kind: "atom", end: skipToken(text, index + 1) };
      return { kind: "prefix", end: index + 1 };
  }
}

function isDigit(code: number): boolean {
  return code >= Char.zero && code <= Char.nine;
}

/** Any char may follow the backslash. */
function characterEnd(text: string, backslash: number): number {
  return backslash + 1 < text.length ? skipToken(text, backslash + 2) : -1;
}
