import { type Decoder, decode, print, type Sexp } from "sexp-parser";

/** What came of a request that should unwind a stopped thread. */
export type Unwinding =
  /** The thread left the place where it was stopped; the reply of the request is an `:abort`, which says nothing else. */
  | { readonly unwound: true }
  /** It did not, and is stopped as before. */
  | {
      readonly unwound: false;
      /** Swank's own words, when it gave some. */
      readonly explanation: string | undefined;
    };

/** A request that unwinds replies normally only when it could not. */
export const refusal: Decoder<Unwinding> = (datum: Sexp) => ({ unwound: false, explanation: explanation(datum) });

const explanation = decode.oneOf(decode.string, decode.nil, (datum: Sexp) => print(datum));

/** The reply to a request that did what it should. */
export const unwound = (): Unwinding => ({ unwound: true });
