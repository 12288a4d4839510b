import { expect } from "chai";
import fc from "fast-check";
import { cut, cutStart } from "#swank-mcp/text/cut.js";

const texts = fc.string({ unit: fc.constantFrom("a", "𝄞") });

describe("cut", () => {
  it("leaves a text that fits as it is", () => {
    expect(cut("abcdef", 6)).to.equal("abcdef");
    expect(cutStart("abcdef", 6)).to.equal("abcdef");
  });

  it("has room for a mark that is a text, and adds one that counts what is left out", () => {
    expect(cut("abcdefg", 6)).to.equal("abc...");
    expect(cut("abcdefg", 6, "")).to.equal("abcdef");
    expect(cut("abcdefg", 6, (left) => ` [${left} more]`)).to.equal("abcdef [1 more]");
  });

  it("keeps the end of a text after a mark", () => {
    expect(cutStart("abcdefg", 6)).to.equal("...efg");
    expect(cutStart("abcdefg", 6, "")).to.equal("bcdefg");
  });

  it("splits no surrogate pair, and keeps at most as much as it may", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 3, max: 20 }), (text, max) => {
        for (const part of [cut(text, max), cut(text, max, ""), cutStart(text, max), cutStart(text, max, "")]) {
          expect(part).to.not.match(/\p{Surrogate}/u);
          expect(part.length).to.be.at.most(max);
        }
      }),
    );
  });
});
