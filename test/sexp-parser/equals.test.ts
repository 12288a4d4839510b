import { expect } from "chai";
import fc from "fast-check";
import { equals, list, NIL, print, read, readAll, type Sexp } from "sexp-parser";
import { anyDatum } from "./arbitrary.js";

const DIFFERENT = `
  a b "a" :a #:a p:a p::a |a| 1 2 "1" 1.0 1.00 1/2 1/3 #\\1 12345678901234567890 nil "" (a) (b) (a a) (a . b) (a . c)
  (a b . c) (a (b)) ((a) b) ((a b)) #(a) #() #(b) #1A(a) #2A(a) #0Aa #C(1 2) #C(2 1) #*1 #* #*0 #S(a) #S(b) #S(a 1)
  'a #'a \`a ,a ,@a ,.a #P"a" #P"b" #.a #.b #\\a #\\b`;

describe("equals", () => {
  it("is true only for a datum and itself among different data", () => {
    const [data, again] = [readAll(DIFFERENT), readAll(DIFFERENT)];
    for (const [row, left] of data.entries()) {
      for (const [column, right] of again.entries()) {
        expect(equals(left, right), `${print(left)} and ${print(right)}`).to.equal(row === column);
      }
    }
  });

  it("is true for spellings of the same Lisp datum", () => {
    expect(equals(NIL, [])).to.equal(true);
    expect(equals([[]], list(list()))).to.equal(true);
    expect(equals(5, 5n)).to.equal(true);
    expect(equals([5n], [5])).to.equal(true);
  });

  it("agrees with comparing the printed texts", () => {
    const sameOrNot: fc.Arbitrary<[Sexp, Sexp]> = fc.oneof(
      fc.tuple(anyDatum, anyDatum),
      anyDatum.map((datum): [Sexp, Sexp] => [datum, read(print(datum))]),
      fc.tuple(anyDatum, anyDatum, anyDatum).map(([a, b, c]): [Sexp, Sexp] => [
        [a, b],
        [a, c],
      ]),
    );
    fc.assert(
      fc.property(sameOrNot, ([left, right]) => {
        expect(equals(left, right)).to.equal(print(left) === print(right));
      }),
      { numRuns: 2000 },
    );
  });
});
