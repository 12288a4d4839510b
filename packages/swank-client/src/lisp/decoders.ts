import { DecodeError, type Decoder, decode, type Sexp } from "sexp-parser";

/** Decodes one of `names`, which Lisp sends as a keyword. */
export function keywordOf<Name extends string>(names: readonly Name[]): Decoder<Name> {
  return nameOf(
    names,
    decode.map(decode.keywordName, (name) => name.toLowerCase()),
  );
}

/** Decodes one of `names`, whatever kind of symbol or string Lisp sends. */
export function nameOf<Name extends string>(names: readonly Name[], read: Decoder<string>): Decoder<Name> {
  return (datum) => {
    const text = read(datum);
    const name = names.find((candidate) => candidate === text);
    if (name === undefined) throw new DecodeError(names.join(" or "), datum);
    return name;
  };
}

/** A decoded message; `undefined` for messages of another shape, which have other receivers. */
export function decodedIfKnown<Value>(decoder: Decoder<Value>, datum: Sexp): Value | undefined {
  try {
    return decoder(datum);
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
