import { expect } from "chai";
import { type LispResult, lispTests, runLispTests } from "../support/fiveam.js";

describe("The Lisp system swank-client", () => {
  const tests = lispTests();
  let results: readonly LispResult[];
  before(async () => {
    results = await runLispTests();
  });

  it("runs each FiveAM test once", () => {
    expect(results.map(({ name }) => name)).to.have.members(tests.map(({ name }) => name));
  });

  for (const { name, expected } of tests) {
    it(`${name}: ${expected}`, () => {
      expect(results.find((result) => result.name === name)).to.deep.equal({ name, problem: undefined });
    });
  }
});
