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

  it("names restarts as a person does, and shows neither an end nor a stop that is over", () => {
    const feed = new Feed({ version: "0", mode: "image", isReadOnly: false });
    const record = new RecordView(feed, "image", () => false);
    record.receive({ type: "agents", agents: ["a"] });
    const call = (number: number, operation: string, code: string) => {
      const begun = { number, revision: 1, agent: "a", operation, code, package: undefined, begun: 1000 };
      record.receive({
        type: "begin",
        call: { ...begun, ended: undefined, output: "", stop: undefined, status: undefined, result: "" },
      });
    };
    call(1, "evaluate", "(/ 1 0)");
    record.receive({
      type: "stop",
      number: 1,
      revision: 2,
      stop: { thread: 7, level: 1, message: "Division by zero" },
    });
    call(2, "invoke-offered-restart", '(invoke-offered-restart 1 1 "43afc0" ("5" "\\"x\\""))');
    expect(feed.state.calls.map(({ summary, stop, outcome }) => [summary, stop, outcome])).to.deep.equal([
      ["Division by zero", "7/1", undefined],
      [undefined, undefined, undefined],
    ]);
    const end = { type: "end", revision: 3, status: "aborted", result: "", ended: 2000 } as const;
    record.receive({ ...end, number: 2 });
    record.receive({ ...end, number: 1 });
    expect(feed.state.calls.map(({ tool, code, outcome, isError }) => [tool, code, outcome, isError])).to.deep.equal([
      ["evaluate", "(/ 1 0)", "aborted", true],
      ["invoke-restart", 'restart 2: 5, "x"', "left the stop", false],
    ]);
    feed.close();
  });
});
