import type { ReadErrorCode } from "../errors.js";
import { SexpError } from "../errors.js";
import { unreadableEnd } from "../read/unreadable.js";
import { dispatchAt } from "../scan/dispatch.js";
import { Char, CharClass, classAt, codeAt, endsToken } from "../text/chars.js";
import { skipBlockComment, skipLineComment, skipString, skipToken } from "../text/skip.js";
import type { SourceBlank } from "./types.js";

/** The kind of a token and the offset after it. */
export interface Token {
  readonly kind: SourceBlank["kind"] | "atom" | "dot" | "open" | "close" | "prefix" | "conditional";
  readonly end: number;
}

/**
 * The token that begins at `start`, which is inside the text.
 *
 * @throws {SexpError} when the text ends inside the token
 */
export function tokenAt(text: string, start: number): Token {
  const code = text.charCodeAt(start);
  switch (code) {
    case Char.open:
      return { kind: "open", end: start + 1 };
    case Char.close:
      return { kind: "close", end: start + 1 };
    case Char.quote:
    case Char.backquote:
      return { kind: "prefix", end: start + 1 };
    case Char.comma:
      return { kind: "prefix", end: commaEnd(text, start) };
    case Char.quotes:
      return { kind: "atom", end: ended(text, start, skipString(text, start), "UNCLOSED_STRING") };
    case Char.semicolon:
      return { kind: "line-comment", end: skipLineComment(text, start) };
    case Char.sharp:
      return sharpToken(text, start);
    default:
      return plainToken(text, start, code);
  }
}

function commaEnd(text: string, start: number): number {
  const next = codeAt(text, start + 1);
  return next === Char.at || next === Char.dot ? start + 2 : start + 1;
}

function plainToken(text: string, start: number, code: number): Token {
  if (classAt(text, start) === CharClass.whitespace) return { kind: "whitespace", end: skipWhitespace(text, start) };
  if (code === Char.dot && endsToken(text, start + 1)) return { kind: "dot", end: start + 1 };
  const end = ended(text, start, skipToken(text, start), "UNCLOSED_SYMBOL");
  return { kind: isPackagePrefix(text, start, end) ? "prefix" : "atom", end };
}

/** SBCL reads the datum after `package::` in that package. */
function isPackagePrefix(text: string, start: number, end: number): boolean {
  return text.startsWith("::", end - 2) && /^[^:\\|]+::$/.test(text.slice(start, end));
}

function skipWhitespace(text: string, start: number): number {
  let index = start;
  while (classAt(text, index) === CharClass.whitespace) index++;
  return index;
}

function sharpToken(text: string, start: number): Token {
  if (codeAt(text, start + 1) === Char.less) {
    return { kind: "atom", end: ended(text, start, unreadableEnd(text, start), "UNCLOSED_UNREADABLE") };
  }
  const { kind, end } = dispatchAt(text, start);
  switch (kind) {
    case "comment":
      return { kind: "block-comment", end: ended(text, start, skipBlockComment(text, start), "UNCLOSED_COMMENT") };
    case "atom":
      return { kind: "atom", end: ended(text, start, end, "UNCLOSED_SYMBOL") };
    case "conditional":
      return { kind: "conditional", end };
    case "prefix":
      return codeAt(text, end) === Char.open && isVector(text, end)
        ? { kind: "open", end: end + 1 }
        : prefix(text, start, end);
  }
}

/** Whether only `#` and digits stand before the parenthesis at an index. */
function isVector(text: string, parenthesis: number): boolean {
  const before = text.charCodeAt(parenthesis - 1);
  return before === Char.sharp || (before >= Char.zero && before <= Char.nine);
}

function prefix(text: string, start: number, end: number): Token {
  if (end > text.length) throw new SexpError("MISSING_DATUM", text, start);
  // CLHS 2.4.8.21: # before whitespace or a closing parenthesis is an error in every readtable.
  const last = classAt(text, end - 1);
  const isInvalid = last === CharClass.whitespace || text.charCodeAt(end - 1) === Char.close;
  if (isInvalid) throw new SexpError("UNKNOWN_DISPATCH", text, start);
  return { kind: "prefix", end };
}

function ended(text: string, start: number, end: number, code: ReadErrorCode): number {
  if (end < 0) throw new SexpError(code, text, start);
  return end;
}
