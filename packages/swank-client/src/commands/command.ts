import type { Decoder, Sexp } from "sexp-parser";

/**
 * One remote procedure of Swank: how it is called, and what it gives.
 *
 * @typeParam Args - What the caller gives.
 * @typeParam Result - What the caller gets.
 */
export interface Command<Args extends readonly unknown[], Result> {
  /** The function's name on the Lisp side, e.g. `swank:backtrace`; for messages. */
  readonly name: string;
  /** The form to evaluate. */
  encode(...args: Args): Sexp;
  readonly decode: Decoder<Result>;
  /**
   * For procedures that unwind: what `:abort` means, which is then success.
   *
   * @param condition - The text of the `:abort`.
   */
  unwound?(condition: string): Result;
}
