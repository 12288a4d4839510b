import { DecodeError, type Decoder, type Sexp } from "sexp-parser";
import { SwankError } from "./errors.js";

/**
 * Decodes what Lisp replied.
 *
 * @param label - Names the operation in the error's message.
 * @throws SwankError `UNEXPECTED_REPLY` when the reply has another shape
 */
export function decodeValue<Value>(decoder: Decoder<Value>, reply: Sexp, label: string): Value {
  try {
    return decoder(reply);
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause;
    throw new SwankError("UNEXPECTED_REPLY", `${label}: ${cause.message}`, { cause, details: { operation: label } });
  }
}
