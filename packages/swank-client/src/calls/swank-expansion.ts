import { type Decoder, decode, NIL, type Sexp, T } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

const { any, keywordName, list, map, nullable, string, tagged, tuple } = decode;

const text = (name: string) =>
  lispFunction({ name, encode: (source: string): readonly Sexp[] => [source], decode: string });

/** `(swank:swank-macroexpand-1 "FORM")`: expands a macro call once. => pretty-printed text */
export const swankMacroexpand1 = text("swank:swank-macroexpand-1");

/** `(swank:swank-macroexpand "FORM")`: expands until the form is no macro call. */
export const swankMacroexpand = text("swank:swank-macroexpand");

/** `(swank:swank-macroexpand-all "FORM")`: expands the form and all forms in it. */
export const swankMacroexpandAll = text("swank:swank-macroexpand-all");

/** `(swank:swank-compiler-macroexpand-1 "FORM")`: expands a call of a function with a compiler macro once. */
export const swankCompilerMacroexpand1 = text("swank:swank-compiler-macroexpand-1");

/** `(swank:swank-compiler-macroexpand "FORM")`: the same until nothing changes. */
export const swankCompilerMacroexpand = text("swank:swank-compiler-macroexpand");

/** `(swank:swank-expand-1 "FORM")`: expands a macro or a compiler macro once. */
export const swankExpand1 = text("swank:swank-expand-1");

/** `(swank:swank-expand "FORM")`: expands macros and compiler macros until nothing changes. */
export const swankExpand = text("swank:swank-expand");

/** `(swank:swank-format-string-expand "STRING")`: the Lisp code for a string of FORMAT, which is given in its quotes. */
export const swankFormatStringExpand = text("swank:swank-format-string-expand");

/** `(swank:disassemble-form "FORM")`: the machine code of a function. The form is evaluated: `'car`, `#'car`. */
export const disassembleForm = text("swank:disassemble-form");

/** One step of expanding a macro call. */
export type MacroStep =
  | {
      readonly status: "expanded";
      readonly text: string;
      /** The macro calls in the text, with their kinds and positions, as Lisp data. */
      readonly subforms: readonly Sexp[];
    }
  | { readonly status: "failed"; readonly reason: string };

const macroStep: Decoder<MacroStep> = tagged({
  ok: decode.record({ text: string, subforms: list(any) }, { status: "expanded" }),
  error: decode.record({ reason: string }, { status: "failed" }),
});

/**
 * `(swank-macrostep:macrostep-expand-1 "FORM" COMPILER-MACROS-P CONTEXT)`: expands once, and says where the expansion has macro calls.
 */
export const macrostepExpand1 = lispFunction({
  name: "swank-macrostep:macrostep-expand-1",
  contrib: "swank-macrostep",
  encode: (form: string, compilerMacros: boolean = false): readonly Sexp[] => [form, compilerMacros ? T : NIL, NIL],
  decode: macroStep,
});

/** `(swank-macrostep:macro-form-p "FORM" COMPILER-MACROS-P CONTEXT)`: the `kind` of macro call, e.g. `macro`; `undefined` for another form. */
export const macroFormP = lispFunction({
  name: "swank-macrostep:macro-form-p",
  contrib: "swank-macrostep",
  encode: (form: string, compilerMacros: boolean = false): readonly Sexp[] => [form, compilerMacros ? T : NIL, NIL],
  decode: tagged({ ok: map(tuple(nullable(keywordName)), ([kind]) => ({ kind: kind?.toLowerCase() })) }),
});
