import { DecodeError, type Decoder, type Sexp } from "sexp-parser";

/** What `decoder` makes of the target of a message; `undefined` for targets of another shape, which are somebody else's. */
export function unlessOther<T>(decoder: Decoder<T>, target: Sexp): T | undefined {
  try {
    return decoder(target);
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
