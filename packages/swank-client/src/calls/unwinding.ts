import { type Decoder, decode, print, type Sexp } from "sexp-parser";

/** The outcome of a request to unwind a stopped thread. */
export type Unwinding =
  /** The thread left the stop; Swank replied `:abort`, which carries no other information. */
  | { readonly unwound: true }
  /** The thread did not leave, and is stopped as before. */
  | {
      readonly unwound: false;
      /** Swank's explanation, if it gave one. */
      readonly explanation: string | undefined;
    };

/** Decodes a normal reply, which means that the thread was not unwound. */
export const refusal: Decoder<Unwinding> = (datum: Sexp) => ({ unwound: false, explanation: explanation(datum) });

const explanation = decode.oneOf(decode.string, decode.nil, (datum: Sexp) => print(datum));

/** The outcome for an `:abort` reply: the thread was unwound. */
export const unwound = (): Unwinding => ({ unwound: true });
