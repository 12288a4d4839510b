import { intern, isSymbol, NIL, QUOTE } from "./data.js";
import { PrintError, SexpError } from "./errors.js";
import { upcase } from "./lexer.js";
import { read } from "./read.js";
import type { LispFloat, LispSymbol, Sexp, Vector } from "./types.js";

/**
 * The symbol that the reader reads from `text`: `symbol("swank:connection-info")`, `symbol("|x y|")`.
 *
 * @throws {SexpError} `INVALID_SYMBOL` when the text is not a symbol, or the reader's code when it cannot be read
 */
export function symbol(text: string): LispSymbol {
  const datum = read(text);
  if (isSymbol(datum)) return datum;
  throw new SexpError("INVALID_SYMBOL", text, 0);
}

/** The keyword with this name: `keyword("emacs-rex")` is `:emacs-rex`. The name is upcased and may contain any character. */
export function keyword(name: string): LispSymbol {
  return intern(upcase(name), "KEYWORD");
}

/** A proper list; `NIL` without items. */
export function list(...items: readonly Sexp[]): Sexp {
  return items.length === 0 ? NIL : items;
}

/** `'datum`, for data inside a form that Lisp evaluates. */
export function quote(datum: Sexp): Sexp {
  return [QUOTE, datum];
}

/** `#(items...)`. */
export function vector(...items: readonly Sexp[]): Vector {
  return { kind: "vector", items };
}

/**
 * A double-float, written with the marker `d` so that no Lisp reads it as a single.
 *
 * @throws {PrintError} `UNPRINTABLE` for NaN and infinities, which have no standard syntax
 */
export function float(value: number): LispFloat {
  if (!Number.isFinite(value)) throw new PrintError(String(value));
  const digits = Object.is(value, -0) ? "-0.0" : String(value);
  return { kind: "float", value, text: digits.includes("e") ? digits.replace(/e\+?/, "d") : `${digits}d0` };
}
