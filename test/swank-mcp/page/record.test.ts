import { expect } from "chai";
import { Feed } from "#swank-mcp/page/feed.js";
import { RecordView } from "#swank-mcp/page/record.js";

describe("RecordView", () => {
  it("shows a question with every character visible, and the agent that asks it", () => {
    const feed = new Feed({ version: "0", mode: "image", isReadOnly: false });
    const record = new RecordView(feed, "image", () => false);
    record.receive({ type: "agents", agents: ["a\u{202e}b"] });
    record.receive({
      type: "ask",
      question: {
        number: 7,
        agent: "a\u{202e}b",
        action: "end\u{200b} this Lisp",
        particulars: [["Code\n", `(safe) ${" ".repeat(500)}\u{202e}(evil)`]],
        circumstances: ["\u{2066}here"],
        forStop: false,
        inFull: true,
        asked: 1000,
        seconds: 60,
      },
    });
    const { questions, agents } = feed.state;
    expect(questions).to.deep.equal([
      {
        number: 7,
        agent: "a\\u{202e}b",
        action: "end\\u{200b} this Lisp",
        particulars: [["Code", "(safe)[... 501 spaces]\\u{202e}(evil)"]],
        circumstances: ["\\u{2066}here"],
        forStop: false,
        asked: 1000,
        until: 61_000,
      },
    ]);
    expect(agents.map(({ state }) => state)).to.deep.equal(["asking"]);
    record.receive({ type: "withdraw", number: 7, reason: "gone", answer: undefined, place: undefined });
    expect(feed.state.agents.map(({ state }) => state)).to.deep.equal(["idle"]);
    feed.close();
  });
});
