import { expect } from "chai";
import { PromptHistory } from "#swank-mcp-page/prompt-history.js";

describe("PromptHistory", () => {
  it("goes back to what was evaluated, and forth to the draft", () => {
    const history = new PromptHistory();
    history.add("(a)");
    history.add("(b)");
    expect(["(c", "", "", ""].map((draft) => history.earlier(draft))).to.deep.equal([
      "(b)",
      "(a)",
      undefined,
      undefined,
    ]);
    expect([history.later(), history.later(), history.later()]).to.deep.equal(["(b)", "(c", undefined]);
  });

  it("has each text once, the latest last, and forgets the oldest", () => {
    const history = new PromptHistory(["(a)", "(b)"]);
    history.add("(a)");
    expect(history.entries).to.deep.equal(["(b)", "(a)"]);
    for (let index = 0; index < 200; index += 1) history.add(`(f ${index})`);
    expect([history.entries.length, history.entries.at(-1)]).to.deep.equal([100, "(f 199)"]);
  });
});
