import { expect } from "chai";
import fc from "fast-check";
import { equals, print, read, readAll, scan } from "sexp-parser";
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
