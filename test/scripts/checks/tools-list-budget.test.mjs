import { expect } from "chai";
import { budgetProblems } from "../../../scripts/checks/tools-list-budget.mjs";

const BUDGET = 1000;

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
