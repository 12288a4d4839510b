import { Char, CharClass, classAt } from "../text/chars.js";
import type { Position } from "../text/position.js";
import { positionAt } from "../text/position.js";
import { skipBlockComment, skipLineComment, skipString, skipToken } from "../text/skip.js";
import { dispatchAt } from "./dispatch.js";
import { Outline } from "./outline.js";
import type { ScanResult, Unterminated } from "./result.js";
import type { Tracker } from "./tracker.js";

/**
 * Finds the top-level forms of Lisp source text, and the first syntax in it that is not closed, or closes nothing.
 * Nothing is read.
 *
 * Handles strings, `|symbols|`, escapes, characters such as `#\(`, both kinds of comments, and a first line that begins with `#!`. Takes linear time, at any
 * depth. The result holds for the standard readtable only.
 */
export function scan(source: string): ScanResult {
  return new Scanner(source, new Outline(source)).scan();
}

/** Scans the text with another tracker than that of {@link scan}. */
export function track(source: string, tracker: Tracker): void {
  new Scanner(source, tracker).scan();
}

class Scanner {
  readonly #text: string;
  readonly #outline: Tracker;
  #pos = 0;

  constructor(text: string, outline: Tracker) {
    this.#text = text;
    this.#outline = outline;
    // as when SBCL loads a file
    if (text.startsWith("#!")) this.#pos = skipLineComment(text, 0);
  }

  scan(): ScanResult {
    while (this.#pos < this.#text.length) {
      const problem = this.#step(this.#pos, this.#text.charCodeAt(this.#pos));
      if (problem !== undefined) return problem;
    }
    return this.#finish();
  }

  #step(offset: number, code: number): ScanResult | undefined {
    switch (code) {
      case Char.open:
        return this.#openList(offset);
      case Char.close:
        return this.#closeList(offset);
      case Char.quotes:
        return this.#datum(offset, skipString(this.#text, offset), "string");
      case Char.semicolon:
        this.#pos = skipLineComment(this.#text, offset);
        return undefined;
      case Char.sharp:
        return this.#dispatch(offset);
      case Char.quote:
      case Char.backquote:
      case Char.comma:
        return this.#prefix(offset, offset + prefixLength(this.#text, offset));
      default:
        return this.#blankOrToken(offset);
    }
  }

  #blankOrToken(offset: number): ScanResult | undefined {
    const isBlank = classAt(this.#text, offset) === CharClass.whitespace;
    if (!isBlank) return this.#datum(offset, skipToken(this.#text, offset), "symbol");
    this.#pos++;
    return undefined;
  }

  #openList(offset: number): undefined {
    this.#outline.push(offset);
    this.#pos++;
  }

  #closeList(offset: number): ScanResult | undefined {
    this.#pos++;
    if (this.#outline.pop(this.#pos)) return undefined;
    return { kind: "extra-close", position: this.#at(offset), forms: this.#outline.forms };
  }

  #prefix(offset: number, end: number): undefined {
    this.#outline.begin(offset);
    this.#pos = end;
  }

  /** Skips an atom; `end` is -1 when it does not end. */
  #datum(offset: number, end: number, what: Unterminated["what"]): ScanResult | undefined {
    if (end < 0) return this.#unterminated(offset, what);
    this.#outline.begin(offset);
    this.#outline.end(end);
    this.#pos = end;
    return undefined;
  }

  #dispatch(offset: number): ScanResult | undefined {
    const { kind, end } = dispatchAt(this.#text, offset);
    switch (kind) {
      case "comment":
        return this.#comment(offset);
      case "atom":
        return this.#datum(offset, end, "symbol");
      case "prefix":
        return this.#prefix(offset, end);
      case "conditional":
        this.#prefix(offset, end);
        this.#outline.extend();
        return undefined;
    }
  }

  #comment(offset: number): ScanResult | undefined {
    const end = skipBlockComment(this.#text, offset);
    if (end < 0) return this.#unterminated(offset, "comment");
    this.#pos = end;
    return undefined;
  }

  #unterminated(offset: number, what: Unterminated["what"]): Unterminated {
    const { forms, open } = this.#outline;
    return { kind: "unterminated", what, start: this.#at(offset), depth: open.length, forms };
  }

  #finish(): ScanResult {
    const { forms, open, start } = this.#outline;
    const [outermost, innermost] = [open.at(0), open.at(-1)];
    if (outermost !== undefined && innermost !== undefined) {
      return {
        kind: "unclosed-list",
        missing: open.length,
        innermost: this.#at(innermost),
        outermost: this.#at(outermost),
        forms,
      };
    }
    return start < 0 ? { kind: "balanced", forms } : { kind: "missing-form", start: this.#at(start), forms };
  }

  #at(offset: number): Position {
    return positionAt(this.#text, offset);
  }
}

function prefixLength(text: string, offset: number): number {
  return text.startsWith(",@", offset) || text.startsWith(",.", offset) ? 2 : 1;
}
