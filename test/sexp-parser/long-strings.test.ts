import { expect } from "chai";
import fc from "fast-check";
import { print, read, readAll } from "sexp-parser";

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
