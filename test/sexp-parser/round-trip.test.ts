import { expect } from "chai";
import fc from "fast-check";
import { equals, list, NIL, print, read, readAll, type Sexp, scan } from "sexp-parser";
import { anyDatum } from "./arbitrary.js";

describe("print and read", () => {
  it("return an equal datum for any datum", () => {
    fc.assert(
      fc.property(anyDatum, (datum) => {
        const text = print(datum);
        const back = read(text);
        if (!equals(back, datum)) throw new Error(`${text} was read as ${print(back)}`);
      }),
      { numRuns: 5000 },
    );
  });

  it("return the same text for printed text", () => {
    fc.assert(
      fc.property(anyDatum, (datum) => {
        expect(print(read(print(datum)))).to.equal(print(datum));
      }),
    );
  });

  it("return several data with any blanks between them", () => {
    const blank = fc.constantFrom(" ", "\n", "\t\r\n", " ; comment )\n", ' #| #| ( |# " |# ', "\f");
    fc.assert(
      fc.property(fc.array(fc.tuple(anyDatum, blank), { maxLength: 6 }), (pairs) => {
        const text = pairs.map(([datum, separator]) => print(datum) + separator).join("");
        const data = readAll(text);
        expect(data).to.have.lengthOf(pairs.length);
        for (const [index, [datum]] of pairs.entries()) expect(equals(data[index] ?? "missing", datum)).to.equal(true);
      }),
    );
  });
});

describe("scan of printed data", () => {
  it("finds one top-level form for each datum", () => {
    fc.assert(
      fc.property(fc.array(anyDatum, { maxLength: 6 }), (data) => {
        const texts = data.map((datum) => print(datum)).filter((text) => !text.includes("#<"));
        const source = texts.join("\n");
        const { kind, forms } = scan(source);
        expect(kind).to.equal("balanced");
        expect(forms.map(({ offset, end }) => source.slice(offset, end))).to.deep.equal(texts);
      }),
      { numRuns: 1000 },
    );
  });
});

const DIFFERENT = `
  a b "a" :a #:a p:a p::a |a| 1 2 "1" 1.0 1.00 1/2 1/3 #\\1 12345678901234567890 nil "" (a) (b) (a a) (a . b) (a . c)
  (a b . c) (a (b)) ((a) b) ((a b)) #(a) #() #(b) #1A(a) #2A(a) #0Aa #C(1 2) #C(2 1) #*1 #* #*0 #S(a) #S(b) #S(a 1)
  'a #'a \`a ,a ,@a ,.a #P"a" #P"b" #.a #.b #\\a #\\b`;

describe("equals", () => {
  it("is true only for a datum and itself among different data", () => {
    const [data, again] = [readAll(DIFFERENT), readAll(DIFFERENT)];
    for (const [row, left] of data.entries()) {
      for (const [column, right] of again.entries())
        expect(equals(left, right), `${print(left)} and ${print(right)}`).to.equal(row === column);
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

/** Lengths around which a reader of chunks could fail. */
const LENGTHS = [1024, 4096, 65_536];

/** Escapes one char at a time. */
function escaped(text: string): string {
  return `"${[...text].map((char) => (char === '"' || char === "\\" ? `\\${char}` : char)).join("")}"`;
}

/** Checks both directions, and that reading goes on at the right place. */
function expectSurvives(text: string): void {
  const printed = print(text);
  expect(printed === escaped(text), "printed").to.equal(true);
  expect(read(printed) === text, "read").to.equal(true);
  expect(readAll(`${printed}42`)[1]).to.equal(42);
}

describe("print and read, for long strings", () => {
  const pieces = ['"', "\\", '\\"', "\\\\", "a", "é", "日", "😀", "\n", "\ufeff", "\ud800", "\udc00"];

  it("keep every char at any length", () => {
    const many = '\\"'.repeat(600);
    for (const border of LENGTHS) {
      for (const piece of pieces) {
        for (let shift = -3; shift <= 1; shift++) {
          expectSurvives(many + "a".repeat(border + shift) + piece + "b\\".repeat(1000));
          expectSurvives("a".repeat(border + shift) + piece + many);
        }
      }
    }
  });

  it("keep any mixture of chars", () => {
    const mixture = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(mixture, fc.integer({ min: 200, max: 2000 }), (chars, times) =>
        expectSurvives(chars.join("").repeat(times)),
      ),
      { numRuns: 40 },
    );
  });

  it("refuse a string that ends in the middle", () => {
    const printed = print('"'.repeat(100_000));
    expect(() => read(printed.slice(0, -1))).to.throw(/UNCLOSED_STRING at line 1, column 1/);
    expect(() => read(`(a ${printed.slice(0, -2)}`)).to.throw(/UNCLOSED_STRING at line 1, column 4/);
    expect(() => read(`${print('"\ud800'.repeat(50_000)).slice(0, -1)}`)).to.throw(/UNCLOSED_STRING/);
  });
});
