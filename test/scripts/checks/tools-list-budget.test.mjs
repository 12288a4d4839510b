import { expect } from "chai";
import { BUDGET, budgetProblems } from "../../../scripts/checks/tools-list-budget.mjs";

describe("the budget of tools/list", () => {
  /** @param {number} bytes of the whole answer, written in two-byte characters as far as they go */
  const answer = (bytes) => {
    const room = bytes - Buffer.byteLength(JSON.stringify({ tools: "" }));
    return { tools: "é".repeat(Math.floor(room / 2)) + "e".repeat(room % 2) };
  };

  it("is kept by an answer of just that size", () => {
    expect(budgetProblems(answer(BUDGET))).to.deep.equal([]);
  });

  it("is measured in bytes and names them when it is broken", () => {
    expect(budgetProblems(answer(BUDGET + 1))[0])
      .to.include(`${BUDGET + 1} bytes`)
      .and.include(`${BUDGET}`);
  });
});
