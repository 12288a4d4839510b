import fc from "fast-check";
import {
  type Character,
  dotted,
  FUNCTION,
  intern,
  keyword,
  type LispFloat,
  type LispSymbol,
  list,
  NIL,
  QUOTE,
  type Ratio,
  type Sexp,
  T,
} from "sexp-parser";

/** Strings of any chars, many of them with a meaning in the syntax. */
export const anyText: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    fc.constantFrom(..."\"\\|#()'`,;:.@ \n\t\0éÉµß", "\ud800"),
  ),
  maxLength: 12,
});

/** Usual names, names that look like other tokens, and any text. */
const name: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(..."A,FOO-BAR,foo,Foo,,123,+1,1+,1.5,-,+,...,.,1/2,1e5,.5,@x,.x,#,#x,a:b,|,\\,NIL,T,É,é".split(",")),
  fc.string({ unit: fc.constantFrom(..."AB01+-./^_E@:"), maxLength: 5 }),
  anyText,
);

export const anySymbol: fc.Arbitrary<LispSymbol> = fc.oneof(
  fc.constantFrom(NIL, T, QUOTE, FUNCTION),
  name.map((text) => intern(text)),
  name.map((text) => intern(text, "KEYWORD")),
  name.map((text) => intern(text, "")),
  name.map((text) => keyword(text)),
  fc
    .tuple(name, name, fc.boolean())
    .filter(([, packageName]) => packageName !== "")
    .map(([text, packageName, internal]) => intern(text, packageName, internal)),
);

const anyFloat: fc.Arbitrary<LispFloat> = fc
  .tuple(
    fc.constantFrom("", "+", "-"),
    fc.constantFrom("1.5", ".5", "12.", "0.0", "3"),
    fc.constantFrom("e", "E", "s", "f", "d", "L"),
    fc.integer({ min: -40, max: 40 }),
  )
  .map(([sign, digits, marker, exponent]) => {
    const text = `${sign}${digits}${marker}${exponent}`;
    return { kind: "float", value: Number(`${sign}${digits}e${exponent}`), text };
  });

const anyRatio: fc.Arbitrary<Ratio> = fc
  .tuple(fc.bigInt(), fc.constantFrom(2n, 3n, 7n ** 30n))
  .filter(([numerator, denominator]) => denominator !== 2n || numerator % 2n !== 0n)
  .filter(([numerator, denominator]) => denominator === 2n || numerator % (denominator === 3n ? 3n : 7n) !== 0n)
  .map(([numerator, denominator]) => ({ kind: "ratio", numerator, denominator }));

const anyCharacter: fc.Arbitrary<Character> = fc
  .oneof(fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), fc.constantFrom(..."() \\|#;\n\t\0\x7f\x85\ud800"))
  .map((value) => ({ kind: "character", value }));

const anyInteger: fc.Arbitrary<number | bigint> = fc.oneof(
  fc.maxSafeInteger(),
  fc.bigInt({ min: 2n ** 53n }),
  fc.bigInt({ max: -(2n ** 53n) }),
);

const anyOpaque = fc
  .constantFrom("#<hash-table :TEST eql {1003}>", "#.sb-ext:double-float-positive-infinity", "#1=(a #1#)", "#\\FOO_BAR")
  .map((text): Sexp => ({ kind: "opaque", text }));

/** Atoms. */
export const anyAtom: fc.Arbitrary<Sexp> = fc.oneof(
  anySymbol,
  anyText,
  anyInteger,
  anyFloat,
  anyRatio,
  anyCharacter,
  fc.stringMatching(/^[01]{0,9}$/).map((bits): Sexp => ({ kind: "bit-vector", bits })),
  anyText.map((namestring): Sexp => ({ kind: "pathname", namestring })),
  anyOpaque,
);

/** Any datum, as the reader returns it. */
export const anyDatum: fc.Arbitrary<Sexp> = fc.letrec<{ datum: Sexp; items: Sexp[] }>((tie) => ({
  datum: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    anyAtom,
    tie("items").map((items) => list(...items)),
    fc.tuple(fc.constantFrom(QUOTE, FUNCTION), tie("datum")),
    fc.tuple(tie("items"), tie("datum")).map(([items, tail]) => dotted(items, tail)),
    tie("items").map((items): Sexp => ({ kind: "vector", items })),
    fc.tuple(fc.nat(7), tie("datum")).map(([rank, contents]): Sexp => ({ kind: "array", rank, contents })),
    fc.tuple(tie("datum"), tie("datum")).map(([real, imaginary]): Sexp => ({ kind: "complex", real, imaginary })),
    fc.tuple(anySymbol, tie("items")).map(([symbol, slots]): Sexp => ({ kind: "structure", name: symbol, slots })),
    fc
      .tuple(fc.constantFrom("backquote", "unquote", "splice", "nsplice"), tie("datum"))
      .map(([kind, datum]): Sexp => ({ kind, datum })),
  ),
  items: fc.array(tie("datum"), { maxLength: 5 }),
})).datum;
