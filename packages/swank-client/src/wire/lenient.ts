import { type Decoder, decode } from "sexp-parser";

/** What `decoder` gives, or `fallback` for everything else: for details that are not worth losing a message over. */
export function lenient<Value>(decoder: Decoder<Value>, fallback: Value): Decoder<Value> {
  return decode.oneOf<[Value, Value]>(decoder, () => fallback);
}
