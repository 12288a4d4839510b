import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { budgetProblems, sizeProblems } from "../../../scripts/checks/sizes.mjs";

const BUDGET = 1000;

const LIMIT = { what: "The page", most: 60_000 };

describe("budgetProblems", () => {
  /** @param {number} bytes of the whole answer, which consists of two-byte characters as far as possible */
  const answer = (bytes) => {
    const room = bytes - Buffer.byteLength(JSON.stringify({ tools: "" }));
    return { tools: "é".repeat(Math.floor(room / 2)) + "e".repeat(room % 2) };
  };

  it("allows an answer of exactly the maximum size", () => {
    expect(budgetProblems(answer(BUDGET), BUDGET)).to.deep.equal([]);
  });

  it("refuses a larger answer, and names its size in bytes", () => {
    expect(budgetProblems(answer(BUDGET + 1), BUDGET)[0])
      .to.include(`${BUDGET + 1} bytes`)
      .and.include(`${BUDGET}`);
  });
});

describe("the check of the page's size", () => {
  it("accepts files that are small when they are compressed", () => {
    expect(sizeProblems([new Uint8Array(1_000_000)], LIMIT)).to.deep.equal([]);
  });

  it("reports files that are too large together", () => {
    const [problem] = sizeProblems([randomBytes(30_000), randomBytes(31_000)], LIMIT);
    expect(problem).to.match(/^The page takes 6\d{4} bytes, compressed; the maximum is 60000\./);
  });
});
