import { DecodeError, type Decoder, decode } from "sexp-parser";

/** One of `names`, which Lisp sends as a keyword. */
export function keywordOf<Name extends string>(names: readonly Name[]): Decoder<Name> {
  return nameOf(
    names,
    decode.map(decode.keywordName, (name) => name.toLowerCase()),
  );
}

/** One of `names`, however Lisp sends it. */
export function nameOf<Name extends string>(names: readonly Name[], read: Decoder<string>): Decoder<Name> {
  return (datum) => {
    const text = read(datum);
    const name = names.find((candidate) => candidate === text);
    if (name === undefined) throw new DecodeError(names.join(" or "), datum);
    return name;
  };
}
